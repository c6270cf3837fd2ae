(* Bijections of the successors of two rows along pairs that are allowed, or successors that have too few partners.
   Nothing here is proved: what is proved checks what is found. *)

open Extracted

(* Successors of one class and probability: what is looked at, how many, and which. *)
let groups k row =
  let numbers = Hashtbl.create 16 and found = ref [] and count = ref 0 in
  let group (state, (p : q)) =
    let c = k state in
    let name = String.concat " " [ Integers.to_string c; Integers.to_string p.qnum; Integers.to_string p.qden ] in
    match Hashtbl.find_opt numbers name with
    | Some (g, members) -> members := state :: !members; g
    | None ->
        let members = ref [ state ] and g = !count in
        Hashtbl.add numbers name (g, members);
        found := ((c, p), members) :: !found;
        incr count;
        g
  in
  let places = List.map group row in
  (places, Array.of_list (List.rev_map (fun (key, members) -> (key, !members)) !found))

exception Stuck of int list

let find k left right allowed =
  let places, ours = groups k left and _, theirs = groups k right in
  let n = Array.length ours and m = Array.length theirs in
  let ways = Array.map (fun (a, _) -> List.filter (fun j -> allowed a (fst theirs.(j))) (List.init m Fun.id)) ours in
  let used = Array.init m (fun _ -> Hashtbl.create 4) in
  let room = Array.map (fun (_, members) -> List.length members) theirs in
  let at j i = Option.value (Hashtbl.find_opt used.(j) i) ~default:0 in
  let put j i amount = if amount = 0 then Hashtbl.remove used.(j) i else Hashtbl.replace used.(j) i amount in
  (* A way from a group on the left to one on the right that has room, moving others aside. *)
  let search start =
    let came = Array.make m (-1) and before = Array.make n (-2) and waiting = Queue.create () and found = ref (-1) in
    before.(start) <- -1;
    Queue.add start waiting;
    while !found < 0 && not (Queue.is_empty waiting) do
      let i = Queue.pop waiting in
      List.iter
        (fun j ->
          if !found < 0 && came.(j) < 0 then begin
            came.(j) <- i;
            if room.(j) > 0 then found := j
            else Hashtbl.iter (fun i' _ -> if before.(i') = -2 then (before.(i') <- j; Queue.add i' waiting)) used.(j)
          end)
        ways.(i)
    done;
    if !found < 0 then raise (Stuck (List.filter (fun i -> before.(i) > -2) (List.init n Fun.id)));
    (came, before, !found)
  in
  let rec place start need =
    if need > 0 then begin
      let came, before, last = search start in
      let rec most j amount =
        let i = came.(j) in
        if before.(i) = -1 then amount else most before.(i) (min amount (at before.(i) i))
      in
      let amount = most last (min need room.(last)) in
      room.(last) <- room.(last) - amount;
      let rec move j =
        let i = came.(j) in
        put j i (at j i + amount);
        let j' = before.(i) in
        if j' <> -1 then (put j' i (at j' i - amount); move j')
      in
      move last;
      place start (need - amount)
    end
  in
  try
    Array.iteri (fun i (_, members) -> place i (List.length members)) ours;
    let partners = Array.make n [] in
    Array.iteri
      (fun j (_, members) ->
        let rest = ref members in
        Hashtbl.iter
          (fun i amount ->
            for _ = 1 to amount do
              partners.(i) <- List.hd !rest :: partners.(i);
              rest := List.tl !rest
            done)
          used.(j))
      theirs;
    let next i = let partner = List.hd partners.(i) in partners.(i) <- List.tl partners.(i); partner in
    Ordered (List.map next places)
  with Stuck some -> Blocked (List.map (fun i -> fst ours.(i)) some)
