/** What is wrong with a configuration, and where it says so. */
import type { Place } from './node.ts';

export type Problem = {
  /** As the field's lint says it today. */
  text: string;
  /** As release 10.0 said it, where that was otherwise. */
  old_text: string;
  /** null: the whole file, or what is not there. */
  place: Place | null;
};

/** More than this of one file help nobody. */
const mostProblems = 200;

/** Why nothing more of the file can be read. */
export class CiFileError extends Error {
  readonly problem: Problem;

  constructor(text: string, place: Place | null = null, oldText: string = text) {
    super(text);
    this.name = 'CiFileError';
    this.problem = { text, old_text: oldText, place };
  }
}

/** Collects all that is wrong: the reader goes on. */
export type Problems = {
  errors: Problem[];
  warnings: Problem[];
  error: (text: string, place: Place | null, oldText?: string) => void;
  warn: (text: string, place: Place | null) => void;
};

const adder = (list: Problem[]) => {
  const known = new Set<string>();
  return (text: string, place: Place | null, oldText: string = text): void => {
    if (known.has(text) || list.length >= mostProblems) return;
    known.add(text);
    list.push({ text, old_text: oldText, place });
  };
};

export const collectProblems = (): Problems => {
  const errors: Problem[] = [];
  const warnings: Problem[] = [];
  return { errors, warnings, error: adder(errors), warn: adder(warnings) };
};
