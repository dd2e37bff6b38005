/** A position in a file. Lines and columns count from 1. */
export type SourcePosition = { file: string; line: number; column: number };
