/** Limits on the size and evaluation cost of a configuration. */
import { maxNodes, tooLarge, type Hash, type Node } from './node.ts';
import type { SourcePosition } from './source_position.ts';
import { CiFileError } from './problems.ts';

export type Limits = {
  /** UTF-16 units of all files together. */
  text: number;
  /** Nodes of the tree, counted once per use. */
  nodes: number;
  /** Steps of evaluating rules and patterns. */
  steps: number;
  /** UTF-16 units of all resulting jobs. Hundreds of jobs may inherit a few long lines. */
  made: number;
  /** Beyond brief limits, the file is not rejected but compiled in a worker thread with full limits. */
  isBrief: boolean;
};

/** UTF-16 units of one file. */
export const maxFileLength = 1_048_576;

export const fullLimits: Limits = {
  text: 4 * maxFileLength,
  nodes: maxNodes,
  steps: 200_000_000,
  made: 8 * maxFileLength,
  isBrief: false,
};

/** Limits that keep the work within about 30 ms. */
export const briefLimits: Limits = {
  text: 24_576,
  nodes: 5_000,
  steps: 3_000_000,
  made: maxFileLength,
  isBrief: true,
};

/** The configuration exceeds the brief limits. */
export class TooHeavy extends Error {}

/** @throws TooHeavy, CiFileError */
export const limitError = ({ isBrief }: Limits, position: SourcePosition | null = null): Error =>
  isBrief ? new TooHeavy() : new CiFileError(tooLarge, position);

const countText = (node: Node): number => {
  if (node.kind === 'scalar') return typeof node.value === 'string' ? node.value.length : 0;
  if (node.kind === 'reference') return 0;
  const parts = node.kind === 'list' ? node.items : node.entries.values();
  let length = 0;
  for (const part of parts) length += countText(part);
  return length;
};

/**
 * Checks the size of the tree and returns it.
 * @throws TooHeavy, CiFileError if it exceeds the limits
 */
export const requireWithinLimits = (root: Hash, limits: Limits): Hash => {
  if (root.size > limits.nodes || countText(root) > limits.made) throw limitError(limits, root.position);
  return root;
};

/** Returns whether the jobs, as stored JSON, exceed the limit of one pipeline. */
export const exceedsOutputLimit = (jobs: readonly object[], { made }: Limits): boolean => {
  let length = 0;
  return jobs.some((job) => (length += JSON.stringify(job).length) > made);
};
