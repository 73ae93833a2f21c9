// Brings the component's script from its own address, so that browsers keep it and no message has to carry it.
// The page puts the address in place of SCRIPT_ADDRESS; it holds the script's hash, so it never goes stale. In place of
// SCRIPT_MISSING it puts what is said where the script does not come.

const script = import(`${location.origin}SCRIPT_ADDRESS`);

/** Streamlit calls this at the mount and at every change of the data; the script is asked the same way. */
export default function (component) {
  let leave = null;
  let gone = false;
  script.then(
    (module) => {
      if (!gone) leave = module.default(component);
    },
    () => {
      component.parentElement.append("SCRIPT_MISSING");
      component.parentElement.querySelector("#explore")?.removeAttribute("aria-busy");
    },
  );
  return () => {
    gone = true;
    leave?.();
  };
}
