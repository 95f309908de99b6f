//! Reads that gather one page of the portal.
