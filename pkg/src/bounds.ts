// Bounds that the core knows too.

/** The largest bound for bodies: what may be written into the core's memory at all. */
export const BODY_BYTES_MAX = 256 << 20;
