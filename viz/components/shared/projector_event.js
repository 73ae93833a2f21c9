// The event by which other scripts of the page, such as the search, enter or leave the projector view.

export const TOGGLE = "headlight-projector-toggle";
