//! What a service keeps in its folder.

use std::fs;
use std::path::PathBuf;

use super::Authority;

impl Authority {
    /// The home of the commands, which exists once one of them has kept something there.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// What it has logged in all its lives.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(self.log_path()).unwrap_or_default()
    }

    /// Every file it has left: name and bytes.
    #[must_use]
    pub fn files(&self) -> Vec<(String, Vec<u8>)> {
        let entries = fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap());
        entries
            .filter(|entry| entry.file_type().unwrap().is_file())
            .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
            .collect()
    }

    /// What it holds: the files it has left, and its database where that is not one of them.
    #[must_use]
    pub fn left_behind(&self) -> Vec<(String, Vec<u8>)> {
        let mut left = self.files();
        let url = &self.variables["AUTHORITY_DATABASE_URL"];
        if url.starts_with("postgres") {
            left.push(("the dump of the database".to_owned(), postgres_cluster::dump(url)));
        }
        left
    }

    /// Writes a file beside its database; returns the path. The name must not be one of its own files.
    ///
    /// The file changes in one step, as an operator should change it: a reload never reads half of it.
    #[must_use]
    pub fn put(&self, name: &str, content: &str) -> String {
        let (path, new) = (self.folder.path().join(name), self.folder.path().join(format!("{name}.new")));
        fs::write(&new, content).unwrap();
        fs::rename(new, &path).unwrap();
        path.into_os_string().into_string().unwrap()
    }
}
