/** A configuration error and its position in the file. */
import type { SourcePosition } from './source_position.ts';

export type Problem = {
  /** Wording of current GitLab. */
  text: string;
  /** Wording of release 10.0, if it differs. */
  old_text: string;
  /** null: the problem concerns the whole file or something missing. */
  position: SourcePosition | null;
};

/** Problems reported per file. */
const maxProblems = 200;

/** An error after which the file cannot be read further. */
export class CiFileError extends Error {
  readonly problem: Problem;

  constructor(text: string, position: SourcePosition | null = null, oldText: string = text) {
    super(text);
    this.name = 'CiFileError';
    this.problem = { text, old_text: oldText, position };
  }
}

/** Collects errors and warnings, so that reading continues. */
export type Problems = {
  errors: Problem[];
  warnings: Problem[];
  error: (text: string, position: SourcePosition | null, oldText?: string) => void;
  warn: (text: string, position: SourcePosition | null) => void;
};

const newAdder = (list: Problem[]) => {
  const seen = new Set<string>();
  return (text: string, position: SourcePosition | null, oldText: string = text): void => {
    if (seen.has(text) || list.length >= maxProblems) return;
    seen.add(text);
    list.push({ text, old_text: oldText, position });
  };
};

export const collectProblems = (): Problems => {
  const errors: Problem[] = [];
  const warnings: Problem[] = [];
  return { errors, warnings, error: newAdder(errors), warn: newAdder(warnings) };
};
