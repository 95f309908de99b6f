//! The next version of a record (contract 2.1, 3).

/// Gives a record its next version.
macro_rules! versioned {
    ($record:ty) => {
        impl $record {
            /// The same record, one version on. Its time does not go back with a clock that does.
            pub(crate) fn next_version(mut self, now: $crate::time::Timestamp) -> Self {
                self.resource_version += 1;
                self.updated_at = now.max(self.updated_at);
                self
            }
        }
    };
}

pub(crate) use versioned;
