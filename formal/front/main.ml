(* bisimdist-formal CERTIFICATE [MODEL]: the verdict of the proved checker.

   Exit codes: 0 valid, 1 not valid, 2 malformed, 3 a kind that is not covered. With --batch, names of certificates are
   read from standard input, and each is answered by a line with the verdict and the seconds that it took. *)

open Verdict

(* Part by part: a pipe has no length, and what comes through it is read once. *)
let contents name =
  let channel = open_in_bin name in
  let buffer = Buffer.create 65536 and part = Bytes.create 65536 in
  let rec go () =
    let count = input channel part 0 (Bytes.length part) in
    if count > 0 then begin
      Buffer.add_subbytes buffer part 0 count;
      go ()
    end
  in
  Fun.protect ~finally:(fun () -> close_in channel) go;
  Buffer.contents buffer

let batch () =
  try
    while true do
      let name = input_line stdin in
      let start = Sys.time () in
      let verdict = judge (contents name) in
      Printf.printf "%.6f\t%s\n%!" (Sys.time () -. start) (String.map (function '\n' -> ' ' | c -> c) (describe verdict))
    done
  with End_of_file -> ()

let () =
  let answer ?model name =
    let verdict = try judge ?model:(Option.map contents model) (contents name) with Sys_error why -> prerr_endline why; exit 2 in
    print_endline (describe verdict);
    exit (match verdict with Valid -> 0 | Refused _ -> 1 | Wrong _ | Too_large -> 2 | Not_covered -> 3)
  in
  match Array.to_list Sys.argv with
  | [ _; "--batch" ] -> batch ()
  | [ _; name ] -> answer name
  | [ _; name; model ] -> answer ~model name
  | _ -> prerr_endline "usage: bisimdist-formal CERTIFICATE [MODEL]"; exit 2
