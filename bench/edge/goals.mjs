// What is aimed at: CPU time in parts of that of the Worker that is written by hand. 1.6 is the goal, 1.3 would be better.

const BY_HAND = "JavaScript, WebCrypto + JSON.parse";

/** Pairs of sides. Where there is no goal the ratio is only shown. */
export const PAIRS = [
  { ours: "edge-receiver, known at once", other: BY_HAND, max: 1.6 },
  { ours: "edge-receiver, stored at once", other: BY_HAND, max: 1.6 },
  { ours: "edge-receiver, first", other: "JavaScript, first" },
  { ours: "edge-receiver, duplicate", other: "JavaScript, duplicate" },
];
