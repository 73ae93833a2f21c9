// The component of matrices; sheets.js draws them.

import { mounting } from "../shared/mounting.js";
import { createMatrices } from "./sheets.js";

const matrices = mounting("matrices", createMatrices);
export default matrices; // the name is used by matrices.py for standalone files
