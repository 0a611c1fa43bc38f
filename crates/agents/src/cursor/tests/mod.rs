//! Sessions of every generation. What is expected of the fixtures was told by the vendor's SDK and by other readers of them.

mod copies;
mod drift;
mod homes;
mod listing;
mod manners;
mod reading;
