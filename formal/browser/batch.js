// node batch.js PROVED.js: names of certificates on standard input, and for each a line with seconds and verdict.
const fs = require("fs");
require(require("path").resolve(process.argv[2]));
for (const name of fs.readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const start = process.hrtime.bigint();
  const verdict = globalThis.bisimdistCheck(fs.readFileSync(name, "latin1"), "");
  console.log((Number(process.hrtime.bigint() - start) / 1e9).toFixed(6) + "\t" + verdict.replace(/\n/g, " "));
}
