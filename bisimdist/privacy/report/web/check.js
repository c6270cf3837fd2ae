// What a page does with the checkers that it carries: runs one of them in a worker, and says what it says.
const part = id => document.getElementById(id);
const encoded = text => new TextEncoder().encode(text);
const packed = async id => {  // base64 of gzip, as the page holds it
  const letters = atob(part(id).textContent), array = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at++) array[at] = letters.charCodeAt(at);
  const stream = new Blob([array]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
};
const plain = text => String(text).replace(/[\u0000-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
  letter => "\\u" + letter.charCodeAt(0).toString(16).padStart(4, "0"));

const DIGITS = 12;
const number = (text, up) => {  // short numbers as they stand; long ones as decimals, rounded to the safe side
  if (text.length <= 40 || text.startsWith("-")) return text;
  const [above, below = 1n] = text.split("/").map(BigInt), scale = 10n ** BigInt(DIGITS);
  let scaled = above * scale / below;
  if (up && scaled * below < above * scale) scaled += 1n;
  const digits = scaled.toString().padStart(DIGITS + 1, "0");
  return digits.slice(0, -DIGITS) + "." + digits.slice(-DIGITS)
    + (scaled * below == above * scale ? "" : up ? " (rounded up)" : " (rounded down)");
};
const about = alpha => typeof alpha == "string" ? number(alpha)
  : (([low, high]) => low == high ? number(low) : `${number(low)} … ${number(high)}`)(
    Array.isArray(alpha) ? alpha : [alpha.lower, alpha.upper]);
const ABOUT = "about";  // how lines begin that are no claims
const each = (object, say) => Object.entries(object).map(([name, x]) => say(plain(name), number(x))).join(", ");
const subject = ({from, to, alpha, states = [from, to], prior, distance, quantity, gains = {}}, whole) => {
  if (whole.metric) return `e to the ${plain(whole.metric)} distance of ${plain(from)} and ${plain(to)}`;
  const measure = whole.measure || whole.kind == "leakage" && quantity;
  if (!measure) return `${distance || quantity || whole.distance || whole.kind}(${plain(from)}, ${plain(to)}) at alpha = ${about(alpha || whole.alpha)}`;
  const name = measure + (/^(min-entropy|renyi)/.test(measure) ? " (before the logarithm)" : "");
  if (!prior) return `${name}(${states.map(plain).join(", ")})`;
  const gained = Object.entries(whole.gains || gains).map(([guess, row]) => `; ${plain(guess)} gains ${each(row, (state, x) => `${x} for ${state}`)}`);
  return `${name} of ${states.map((state, k) => `${plain(state)} with ${number(prior[k] ?? "nothing")}`).join(", ")}${gained.join("")}`;
};
const composed = ({epsilon, delta}) =>  // of a list of mechanisms
  epsilon === undefined ? `epsilon at delta = ${number(delta)}` : `delta at epsilon = ${number(epsilon)}`;
const budget = ({from, to, ratio, holds, verdict, word}, {length, up_to}) => {  // of a hidden Markov model
  const words = length === undefined ? "of any length" : `of ${up_to ? "up to " : ""}${plain(length)} observations`;
  const pair = `between ${plain(from)} and ${plain(to)}, for sequences ${words}`;
  if (ratio === "inf" || ratio === "any") return `no ratio is a budget ${pair}`;
  if (!(holds ?? verdict === "holds")) return `the ratio ${number(ratio)} is no budget ${pair}`;
  return `the ratio ${number(ratio, true)} is ${word ? "the least" : "a"} budget ${pair}`;
};
const claims = certificate => {  // of the kinds that the proved checker knows
  const whole = JSON.parse(new TextDecoder().decode(certificate)), said = whole.program;
  const lines = (whole.parts || [whole]).flatMap(part => part.claims.map(claim => {
    const {lower, upper} = claim;
    if (claim.ratio !== undefined) return budget(claim, part);
    const sides = [...(upper === undefined || upper === "inf" ? [] : ["at most " + number(upper, true)]),
      ...(lower === undefined || lower === null ? [] : ["at least " + number(lower)])];
    return `${part.kind == "composition" ? composed(claim) : subject(claim, part)} is ${lower === upper ? (upper === "inf" ? "infinite" : "exactly " + number(upper)) : sides.join(" and ") || "not bounded"}`;
  }));
  const program = said ? [`${ABOUT} the function ${plain(said.function)}, of which is seen: ${plain(said.observe)}`] : [];
  const listed = whole.kind == "composition"
    ? [`${ABOUT} these mechanisms, neighbours: ${plain(whole.relation)}`, ...whole.mechanisms.map(one => `${ABOUT} ${plain(JSON.stringify(one))}`)]
    : [`${ABOUT} a model with the digest ${plain(whole.digest)}`];
  return [...lines, ...program, ...listed];
};

const FORMS = {
  proved: async () => ({sources: [part("proved.js").textContent, "\n", part("native.js").textContent]}),
  python: async () => {
    const files = {};
    for (const node of document.querySelectorAll("script[data-file]")) files[node.dataset.file] = await packed(node.id);
    return {sources: [part("python.js").textContent], files};
  },
};
const VERDICTS = {
  "valid": ["valid", "Valid: the checker accepts the proof. This, and nothing else on this page, is proved:"],
  "not valid": ["refused", "Not valid: nothing is proved."],
  "malformed": ["refused", "Malformed: this is no certificate, and nothing is proved."],
  "not covered": ["open", "Not decided: this checker does not know the rules of this certificate. bisimdist check does."],
  "not checked": ["open", "Not checked: nothing is known of the proof."],
};
const show = (place, {verdict, reason, claims: lines}, took) => {
  const [look, words] = VERDICTS[verdict] || VERDICTS["not checked"];
  const title = document.createElement("p"), list = document.createElement("ul");
  title.className = "verdict " + look;
  title.textContent = words + (reason && look != "valid" ? " " + plain(reason) : "");
  const most = 200, shown = look == "open" || verdict == "malformed" ? [] : lines;
  for (const line of shown.slice(0, most)) {
    const item = document.createElement("li");
    item.textContent = (look == "valid" || line.startsWith(ABOUT) ? "" : "not proved: ") + plain(line);
    list.append(item);
  }
  if (shown.length > most) list.append(`and ${shown.length - most} more`);
  const time = document.createElement("p");
  time.className = "took";
  time.textContent = `${(took / 1000).toFixed(2)} s, in this browser`;
  place.replaceChildren(title, ...(shown.length ? [list] : []), time);
  place.dataset.verdict = look == "open" && !VERDICTS[verdict] ? "not checked" : verdict;
};

const workers = {};  // those that are there, by form
let asked = 0;
const check = async (form, certificate, model) => {
  const place = part("said"), bar = part("under-way"), start = performance.now(), ticket = ++asked;
  const end = name => { workers[name]?.terminate(); delete workers[name]; };
  for (const name of Object.keys(workers)) if (workers[name].busy) end(name);
  bar.hidden = false;
  delete place.dataset.verdict;
  place.textContent = form == "python" && !workers.python ? "Python starts in this browser; that takes some seconds" : "Checking";
  const done = found => {
    if (ticket !== asked) return;
    bar.hidden = true;
    show(place, found, performance.now() - start);
  };
  const failed = why => {
    if (ticket === asked) end(form);
    done({verdict: "not checked", reason: String(why), claims: []});
  };
  try {
    let files;
    if (!workers[form]) {
      const made = await FORMS[form]();
      if (ticket !== asked) return;
      workers[form] = new Worker(URL.createObjectURL(new Blob(made.sources, {type: "text/javascript"})));
      files = made.files;
    }
    const worker = workers[form];
    worker.busy = true;
    worker.onmessage = ({data}) => {
      if (data.ticket !== asked) return;
      if (data.step) { place.textContent = data.step; return; }
      worker.busy = false;
      if (data.verdict == "not checked") end(form);  // whatever stopped it may have broken it
      try {
        const told = data.verdict == "valid" || data.verdict == "not valid";
        done({...data, claims: told ? data.claims || claims(certificate) : []});
      } catch (error) { failed(error); }
    };
    worker.onerror = event => { event.preventDefault(); failed(event.message || "the checker ended"); };
    worker.postMessage({ticket, certificate, model, files});
  } catch (error) { failed(error); }
};

const SMALL = 200000;  // characters of a proof that is checked at once
const own = part("certificate");
for (const button of document.querySelectorAll("button[data-form]")) {
  button.disabled = !own;
  if (own) button.onclick = () => check(button.dataset.form, encoded(own.textContent));
}
const first = document.querySelector("button[data-form=proved]");
if (own && first && own.textContent.length <= SMALL) first.click();

const drop = part("drop");
if (drop) {
  const given = {};
  const told = () => {
    const ready = Boolean(given.certificate);
    for (const button of document.querySelectorAll("button[data-form]")) {
      button.disabled = !ready;
      button.onclick = () => check(button.dataset.form, given.certificate, given.model);
    }
    if (ready) document.querySelector("button[data-form]").click();
  };
  const taken = async file => {
    const array = new Uint8Array(await file.arrayBuffer()), text = new TextDecoder("utf-8").decode(array.subarray(0, 15));
    if (!/^\s*<!doctype html/i.test(text)) return array;
    const page = new DOMParser().parseFromString(new TextDecoder().decode(array), "text/html");
    return encoded(page.getElementById("certificate")?.textContent ?? "");  // of a report: no script of it runs
  };
  const put = async (name, file) => {
    given[name] = file ? await taken(file) : undefined;
    told();
  };
  for (const name of ["certificate", "model"]) part(name + "-file").onchange = event => {
    part(name + "-name").textContent = "";  // the browser shows it
    return put(name, event.target.files[0]);
  };
  drop.ondragover = event => { event.preventDefault(); drop.classList.add("over"); };
  drop.ondragleave = () => drop.classList.remove("over");
  drop.ondrop = event => {
    event.preventDefault();
    drop.classList.remove("over");
    const [one, other] = event.dataTransfer.files;
    for (const [name, file] of [["model", other], ["certificate", one]]) if (file) {
      put(name, file);
      part(name + "-name").textContent = plain(file.name);
    }
  };
}
