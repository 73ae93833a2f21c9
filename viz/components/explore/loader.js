// Imports the component's script from its own address, so that browsers cache it and no message contains it. The page
// replaces SCRIPT_ADDRESS by the address, which contains the script's hash, and SCRIPT_MISSING by the message for a
// script that cannot be fetched.

const script = import(`${location.origin}SCRIPT_ADDRESS`);

/** Streamlit calls this function at the mount and at every change of the data; it forwards the call to the script. */
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
