use carryover_agents::{JsonHolder, NewRow};
use rusqlite::OpenFlags;

use super::*;

fn database(folder: &Path) -> PathBuf {
    let path = folder.join("a.db");
    let connection =
        Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE t (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB); INSERT INTO t VALUES ('a', 'theirs');",
        )
        .unwrap();
    path
}

fn row(database: &Path, value: &str, content: RowContent, member: Option<JsonMember>) -> NewRow {
    let database = database.to_owned();
    let rows = SessionRows {
        database,
        table: "t",
        column: "key",
        value: value.to_owned(),
        is_prefix: false,
        is_session: true,
        owner: None,
        member,
    };
    NewRow { rows, content }
}

fn cells(text: &str) -> RowContent {
    RowContent::Cells(vec![("value", CellValue::Text(text.to_owned()))])
}

fn read_all(database: &Path) -> Vec<(String, String)> {
    let connection = open_for_writing(database).unwrap();
    let mut query = connection.prepare("SELECT key, value FROM t ORDER BY key").unwrap();
    query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect()
}

#[test]
fn a_row_that_is_there_is_never_replaced_and_nothing_of_the_rest_is_added() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path());
    let (first, taken) = (row(&path, "b", cells("ours"), None), row(&path, "a", cells("ours"), None));
    let told = insert(&path, &[(&first, None), (&taken, None)]);
    assert!(matches!(&told, Err(AddRowsError::Taken { key, .. }) if key == "a"), "{told:?}");
    assert_eq!(read_all(&path), [("a".to_owned(), "theirs".to_owned())]);
    insert(&path, &[(&first, None)]).unwrap();
    assert_eq!(read_all(&path).len(), 2);
}

#[test]
fn a_value_that_changed_since_it_was_copied_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path());
    let member = JsonMember {
        column: "value",
        path: &[],
        holder: JsonHolder::Object,
        name: "m".to_owned(),
        empty: "{}",
        referrer: None,
    };
    let new = row(&path, "list", RowContent::Json("1".to_owned()), Some(member));
    assert_eq!(read_value(&new).unwrap(), None);
    let connection = open_for_writing(&path).unwrap();
    connection.execute_batch("INSERT INTO t VALUES ('list', '{\"n\":0}')").unwrap();
    assert!(matches!(insert(&path, &[(&new, None)]), Err(AddRowsError::Changed(_))));
    let before = read_value(&new).unwrap().map(|value| Fingerprint::from_bytes(value.as_bytes()));
    insert(&path, &[(&new, before)]).unwrap();
    assert!(matches!(insert(&path, &[(&new, before)]), Err(AddRowsError::Changed(_))));
    assert_eq!(read_all(&path)[1], ("list".to_owned(), r#"{"n":0,"m":1}"#.to_owned()));
}

#[test]
fn no_database_is_made_and_nothing_is_left_beside_one() {
    let folder = tempfile::tempdir().unwrap();
    let new = row(&folder.path().join("none.db"), "b", cells("ours"), None);
    assert!(matches!(insert(&new.rows.database, &[(&new, None)]), Err(AddRowsError::NoDatabase(_))));
    let path = database(folder.path());
    insert(&path, &[(&row(&path, "b", cells("ours"), None), None)]).unwrap();
    let names: Vec<_> = fs_err::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(names, ["a.db"]);
}
