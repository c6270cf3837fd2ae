// A worker that runs the checker, which is Python's standard library only, in Pyodide; all files are sent to it.
const JUDGE = `
import json, sys
sys.path.insert(0, "/checker.zip")
from bisimdist.checker import MalformedCertificate, check_certificate
from bisimdist.checker.__main__ import listed, sentences
from bisimdist.checker.core.program import origin
from bisimdist.checker.core.reading import shown

def judge(certificate, model):
    try:
        report = check_certificate(certificate, model)
    except MalformedCertificate as error:
        return json.dumps({"verdict": "malformed", "reason": str(error), "claims": []})
    claims = [*sentences(report.claims), *(f"{report.kind}: {listed(other)}" for other in report.other_claims)]
    if report.digest is not None:
        claims.append(f"about: {shown(report.model_kind)}, {ascii(report.digest)[1:-1]}")
    claims += origin(report.program) if report.program is not None else ()
    verdict = "valid" if report.valid is True else "not valid"
    return json.dumps({"verdict": verdict, "reason": report.reason, "claims": claims})

def read(name):
    with open(name, "rb") as file:
        return file.read()
`;
const NOWHERE = "https://pyodide.invalid/";  // a name for what is sent: nothing is fetched
let python = null;
const started = async files => {
  const address = name => URL.createObjectURL(new Blob([files[name]], {type: "text/javascript"}));
  globalThis.fetch = async asked => {
    const name = String(asked.url || asked).slice(NOWHERE.length);
    if (!Object.hasOwn(files, name)) throw new Error("nothing is fetched, and the page has no " + name);
    return new Response(files[name], {headers: {"Content-Type": "application/wasm"}});
  };
  globalThis.importScripts = undefined;  // Pyodide wants a worker of modules, which Chromium makes of no page that is a file
  const {loadPyodide} = await import(address("pyodide.mjs"));
  const {default: createPyodideModule} = await import(address("pyodide.asm.mjs"));
  const {info} = JSON.parse(new TextDecoder().decode(files["pyodide-lock.json"]));
  const lockFileContents = JSON.stringify({info, packages: {}});
  python = await loadPyodide({indexURL: NOWHERE, packageBaseUrl: NOWHERE, createPyodideModule, lockFileContents});
  python.FS.writeFile("/checker.zip", files["checker.zip"]);
  python.runPython(JUDGE);
};
onmessage = async ({data: {ticket, files, certificate, model}}) => {
  try {
    if (!python) await started(files);
    postMessage({ticket, step: "Checking"});
    python.FS.writeFile("/certificate", certificate);
    if (model) python.FS.writeFile("/model", model);
    postMessage({...JSON.parse(python.runPython(`judge(read("/certificate"), ${model ? 'read("/model")' : "None"})`)), ticket});
  } catch (error) {
    postMessage({ticket, verdict: "not checked", reason: String(error).slice(-300), claims: []});
  }
};
