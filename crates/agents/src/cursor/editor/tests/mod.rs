mod planning;
mod reading_back;
mod stand;
