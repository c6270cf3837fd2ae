// In a worker behind proved.js: checks what it is sent, and answers with a verdict.
const bytes = array => {
  let text = "";
  for (let at = 0; at < array.length; at += 32768) text += String.fromCharCode(...array.subarray(at, at + 32768));
  return text;
};
onmessage = ({data}) => {
  const said = bisimdistCheck(bytes(data.certificate), data.model ? bytes(data.model) : "");
  const [, verdict, reason] = /^([a-z ]+)(?:: ([^]*))?$/.exec(said);
  postMessage({ticket: data.ticket, verdict, reason: reason || "", claims: null});
};
