// Packs the built package for publication: `node release.mjs FOLDER` prints the path of the tarball.
//
// npm proves where a published package comes from (`publishConfig.provenance`) by its `repository`. Which that is, the
// sources do not know; one setting says it, RELEASE_REPOSITORY, an https URL such as https://host/owner/name, and
// `repository`, `homepage` and `bugs` are made of it. Without it nothing is packed. Ordinary packing, for tests and for an
// installation from a checkout, is `npm pack` and needs no setting.

import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const SETTING = "RELEASE_REPOSITORY";

/** The address of the repository, without an end that only git needs. Throws when the setting is none. */
function repositoryUrl(setting) {
  if (setting === undefined || setting === "") throw new Error(`${SETTING} is not set: a release must say where it comes from`);
  const url = URL.canParse(setting) ? new URL(setting) : null;
  if (url?.protocol !== "https:" || url.pathname.length < 2 || url.username !== "" || url.search !== "" || url.hash !== "") {
    throw new Error(`${SETTING} must be an https URL of a repository, without a user: https://host/owner/name`);
  }
  return url.href.replace(/\/$/, "").replace(/\.git$/, "");
}

/** The manifest as it is published. */
function released(manifest, url) {
  return {
    ...manifest,
    repository: { type: "git", url: `git+${url}.git`, directory: "pkg" },
    homepage: `${url}#readme`,
    bugs: { url: `${url}/issues` },
  };
}

/** Packs a copy, so that the sources stay as they are. */
function pack(manifest, target) {
  const source = fileURLToPath(new URL(".", import.meta.url));
  const copy = mkdtempSync(join(tmpdir(), "verify-wasm-release-"));
  try {
    for (const name of readdirSync(source).filter((name) => /^(dist|src|README|LICENSE)/.test(name))) {
      cpSync(join(source, name), join(copy, name), { recursive: true });
    }
    writeFileSync(join(copy, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
    const words = ["pack", "--silent", "--ignore-scripts", "--pack-destination", resolve(target)];
    return join(resolve(target), execFileSync("npm", words, { cwd: copy, encoding: "utf8" }).trim());
  } finally {
    rmSync(copy, { recursive: true });
  }
}

try {
  const [target] = process.argv.slice(2);
  if (target === undefined) throw new Error("say in which folder the tarball shall be put");
  const url = repositoryUrl(process.env[SETTING]);
  const manifest = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8"));
  console.log(pack(released(manifest, url), target));
} catch (error) {
  console.error(`error: ${error.message}`);
  process.exitCode = 1;
}
