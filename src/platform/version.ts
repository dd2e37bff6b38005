/** The contract's release line, which clients compare: `10.0.x`. */
export const version = '10.0.0';
