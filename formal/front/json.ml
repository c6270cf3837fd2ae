(* JSON as the certificate format has it: UTF-8, no key twice, integers and no other bare numbers. Nothing here is
   proved. Strings are kept as bytes: UTF-8, in which the order of bytes is that of code points; halves of pairs, which
   JSON can name, are written as three bytes of their own. *)

(* Without a stack as long as a list: that of a browser is small. *)
module List = struct
  include Stdlib.List

  let map f l = rev (rev_map f l)
  let append l m = rev_append (rev l) m
end

exception Malformed of string

type t =
  | Null
  | Bool of bool
  | Integer of string  (* as it is written *)
  | Number of string  (* any other bare number: for model files only *)
  | String of string
  | Array of t list
  | Object of (string * t) list

let malformed text = raise (Malformed text)
let max_depth = 900

let check_utf8 text =
  let n = String.length text in
  let byte i = Char.code text.[i] in
  let rest i count = for j = i + 1 to i + count do if j >= n || byte j land 0xc0 <> 0x80 then malformed "not UTF-8" done in
  let rec go i =
    if i < n then begin
      let b = byte i in
      if b < 0x80 then go (i + 1)
      else if b >= 0xc2 && b <= 0xdf then (rest i 1; go (i + 2))
      else if b >= 0xe0 && b <= 0xef then begin
        rest i 2;
        let second = byte (i + 1) in
        if (b = 0xe0 && second < 0xa0) || (b = 0xed && second > 0x9f) then malformed "not UTF-8";
        go (i + 3)
      end
      else if b >= 0xf0 && b <= 0xf4 then begin
        rest i 3;
        let second = byte (i + 1) in
        if (b = 0xf0 && second < 0x90) || (b = 0xf4 && second > 0x8f) then malformed "not UTF-8";
        go (i + 4)
      end
      else malformed "not UTF-8"
    end
  in
  go 0

let add_code buffer code =
  let add x = Buffer.add_char buffer (Char.chr x) in
  if code < 0x80 then add code
  else if code < 0x800 then (add (0xc0 lor (code lsr 6)); add (0x80 lor (code land 0x3f)))
  else if code < 0x10000 then begin
    add (0xe0 lor (code lsr 12)); add (0x80 lor ((code lsr 6) land 0x3f)); add (0x80 lor (code land 0x3f))
  end
  else begin
    add (0xf0 lor (code lsr 18)); add (0x80 lor ((code lsr 12) land 0x3f));
    add (0x80 lor ((code lsr 6) land 0x3f)); add (0x80 lor (code land 0x3f))
  end

let parse ~numbers text =
  check_utf8 text;
  let n = String.length text in
  let pos = ref 0 in
  let fail () = malformed (Printf.sprintf "byte %d: not JSON" !pos) in
  let peek () = if !pos < n then text.[!pos] else '\000' in
  let rec space () = match peek () with ' ' | '\t' | '\n' | '\r' when !pos < n -> incr pos; space () | _ -> () in
  let expect c = if !pos < n && text.[!pos] = c then incr pos else fail () in
  let word w value =
    let k = String.length w in
    if !pos + k <= n && String.sub text !pos k = w then (pos := !pos + k; value) else fail ()
  in
  let hex4 () =
    if !pos + 4 > n then fail ();
    let digits = String.sub text !pos 4 in
    String.iter (function '0' .. '9' | 'a' .. 'f' | 'A' .. 'F' -> () | _ -> fail ()) digits;
    pos := !pos + 4;
    int_of_string ("0x" ^ digits)
  in
  let string () =
    expect '"';
    let buffer = Buffer.create 16 in
    let rec go () =
      if !pos >= n then fail ();
      match text.[!pos] with
      | '"' -> incr pos
      | '\\' ->
          incr pos;
          if !pos >= n then fail ();
          let c = text.[!pos] in
          incr pos;
          (match c with
          | '"' | '\\' | '/' -> Buffer.add_char buffer c
          | 'b' -> Buffer.add_char buffer '\b'
          | 'f' -> Buffer.add_char buffer '\012'
          | 'n' -> Buffer.add_char buffer '\n'
          | 'r' -> Buffer.add_char buffer '\r'
          | 't' -> Buffer.add_char buffer '\t'
          | 'u' ->
              let first = hex4 () in
              let pair = first >= 0xd800 && first < 0xdc00 && !pos + 1 < n && text.[!pos] = '\\' && text.[!pos + 1] = 'u' in
              if pair then begin
                let back = !pos in
                pos := !pos + 2;
                let second = hex4 () in
                if second >= 0xdc00 && second < 0xe000 then
                  add_code buffer (0x10000 + ((first - 0xd800) lsl 10) + (second - 0xdc00))
                else (pos := back; add_code buffer first)
              end
              else add_code buffer first
          | _ -> fail ());
          go ()
      | c when Char.code c < 0x20 -> fail ()
      | c -> Buffer.add_char buffer c; incr pos; go ()
    in
    go ();
    Buffer.contents buffer
  in
  let digits () =
    let start = !pos in
    while !pos < n && text.[!pos] >= '0' && text.[!pos] <= '9' do incr pos done;
    if !pos = start then fail ()
  in
  let number () =
    let start = !pos in
    if peek () = '-' then incr pos;
    if peek () = '0' then incr pos else digits ();
    let whole = !pos in
    if peek () = '.' && !pos + 1 < n && text.[!pos + 1] >= '0' && text.[!pos + 1] <= '9' then (incr pos; digits ());
    (match peek () with
    | 'e' | 'E' ->
        let back = !pos in
        incr pos;
        (match peek () with '+' | '-' -> incr pos | _ -> ());
        if peek () >= '0' && peek () <= '9' then digits () else pos := back
    | _ -> ());
    let written = String.sub text start (!pos - start) in
    if !pos = whole then Integer written
    else if numbers then Number written
    else malformed ("the number " ^ written ^ " stands bare")
  in
  let rec value depth =
    if depth > max_depth then malformed "nested too deeply";
    space ();
    if !pos >= n then fail ();
    match text.[!pos] with
    | '"' -> String (string ())
    | '{' ->
        incr pos; space ();
        if peek () = '}' then (incr pos; Object [])
        else begin
          let seen = Hashtbl.create 16 in
          let rec fields acc =
            space ();
            let key = string () in
            space (); expect ':';
            let item = value (depth + 1) in
            if Hashtbl.mem seen key then malformed ("the key " ^ key ^ " occurs twice");
            Hashtbl.add seen key ();
            space ();
            match peek () with
            | ',' -> incr pos; fields ((key, item) :: acc)
            | '}' -> incr pos; List.rev ((key, item) :: acc)
            | _ -> fail ()
          in
          Object (fields [])
        end
    | '[' ->
        incr pos; space ();
        if peek () = ']' then (incr pos; Array [])
        else begin
          let rec items acc =
            let item = value (depth + 1) in
            space ();
            match peek () with
            | ',' -> incr pos; items (item :: acc)
            | ']' -> incr pos; List.rev (item :: acc)
            | _ -> fail ()
          in
          Array (items [])
        end
    | 't' -> word "true" (Bool true)
    | 'f' -> word "false" (Bool false)
    | 'n' -> word "null" Null
    | '-' | '0' .. '9' -> number ()
    | _ -> fail ()
  in
  let result = value 0 in
  space ();
  if !pos < n then fail ();
  result
