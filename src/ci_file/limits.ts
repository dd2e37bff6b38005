/** How much is made of one configuration. */
import { mostNodes, tooLarge, type Hash, type Node, type Place } from './node.ts';
import { CiFileError } from './problem.ts';

export type Limits = {
  /** UTF-16 units of all files together. */
  text: number;
  /** Parts of the tree, each as often as it is used. */
  nodes: number;
  /** Of deciding: what patterns, and the values that they are held against, take. */
  steps: number;
  /** UTF-16 units of all jobs: what a few lines say, hundreds of jobs may take over. */
  made: number;
  /** Past these, others are tried: nothing is wrong with the file yet. */
  isBrief: boolean;
};

/** UTF-16 units of one file. */
export const longestFile = 1_048_576;

export const fullLimits: Limits = {
  text: 4 * longestFile,
  nodes: mostNodes,
  steps: 200_000_000,
  made: 8 * longestFile,
  isBrief: false,
};

/** What is done within some thirty milliseconds. */
export const briefLimits: Limits = {
  text: 24_576,
  nodes: 5_000,
  steps: 3_000_000,
  made: longestFile,
  isBrief: true,
};

/** There is more to do than the brief limits allow. */
export class TooHeavy extends Error {}

/** @throws TooHeavy, CiFileError */
export const pastLimit = ({ isBrief }: Limits, place: Place | null = null): Error =>
  isBrief ? new TooHeavy() : new CiFileError(tooLarge, place);

const textIn = (node: Node): number => {
  if (node.kind === 'scalar') return typeof node.value === 'string' ? node.value.length : 0;
  if (node.kind === 'reference') return 0;
  const parts = node.kind === 'list' ? node.items : node.entries.values();
  let length = 0;
  for (const part of parts) length += textIn(part);
  return length;
};

/**
 * @returns the same tree
 * @throws TooHeavy, CiFileError where it is more than is read on
 */
export const withinLimits = (root: Hash, limits: Limits): Hash => {
  if (root.size > limits.nodes || textIn(root) > limits.made) throw pastLimit(limits, root.place);
  return root;
};

/** Whether these, as they are stored, are more than one pipeline may have. */
export const makesTooMuch = (jobs: readonly object[], { made }: Limits): boolean => {
  let length = 0;
  return jobs.some((job) => (length += JSON.stringify(job).length) > made);
};
