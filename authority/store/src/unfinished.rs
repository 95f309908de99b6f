//! The first part of a claim's SQL, one text for both databases.

/// The endpoints that have unfinished work, found with one index step each. So the cost does not depend on how many
/// deliveries are pending or have ended, nor on how many endpoints are idle.
macro_rules! all_waiting {
    () => {
        "WITH RECURSIVE waiting (endpoint_id) AS ( \
             SELECT MIN(endpoint_id) FROM deliveries WHERE status = 'pending' \
             UNION ALL \
             SELECT (SELECT MIN(n.endpoint_id) FROM deliveries n \
                     WHERE n.status = 'pending' AND n.endpoint_id > waiting.endpoint_id) \
             FROM waiting WHERE waiting.endpoint_id IS NOT NULL), "
    };
}

pub(crate) use all_waiting;
