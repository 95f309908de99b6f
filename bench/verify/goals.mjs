// What is aimed at: how many times as fast as another side, by body. Where there is no goal the ratio is only shown.

const VERIFY = "verify-wasm verify";
const ENVELOPE = "verify-wasm verifyEnvelope";

export const GOALS = [
  { ours: VERIFY, other: "stripe", goals: { "512 B": 1.6, "2 KB": 1.25, "16 KB": 1.0, "256 KB": 1.15 } },
  { ours: VERIFY, other: "standardwebhooks", goals: { "512 B": 3.2, "2 KB": 2.8, "16 KB": 2.5, "256 KB": 2.1 } },
  { ours: VERIFY, other: "bare node:crypto + JSON.parse", goals: { "512 B": 1, "2 KB": 1, "16 KB": 1, "256 KB": 1 } },
  { ours: ENVELOPE, other: "stripe", goals: { "512 B": 2.8, "2 KB": 3.1, "16 KB": 2.9, "256 KB": 4 } },
  { ours: VERIFY, other: "svix", goals: {} },
  { ours: VERIFY, other: "octokit + JSON.parse", goals: {} },
];

/** WebAssembly and what JavaScript is around it, both compressed with gzip, in bytes. */
export const SIZE_MAX = 16 * 1024;

/** From the import to the first verdict, in parts of importing `standardwebhooks`. */
export const START_MAX = 1.5;
