-- The same number as on PostgreSQL, where writers take turns. A file has one writer: nothing to do.
SELECT 1;
