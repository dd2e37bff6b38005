/** Parses `needs`: the jobs that a job waits for instead of its stage, and whose artifacts it takes. */
import { type At, booleanAt, reportFault, inner, checkKeys, textAt } from './typed_values.ts';
import {
  type Hash,
  type Node,
  getEntry,
  flatItems,
  isNull,
  getKeyPosition,
  getString,
} from '../syntax/node.ts';
import { parseMatrixValues } from './parallel.ts';
import type { CrossNeed, Need } from '../config_types.ts';

/** A job of the same pipeline; artifacts of another pipeline; a pipeline whose status is the job's. */
type Kind = 'job' | 'cross_dependency' | 'bridge';

export type Needs = {
  needs: Need[];
  cross_needs: CrossNeed[];
  /** Full path, possibly with variables, of the project whose newest pipeline the job mirrors. */
  mirrors: string | null;
};

type ParsedNeed = { kind: 'job'; need: Need } | { kind: 'cross_dependency'; cross: CrossNeed } | BridgeNeed;
type BridgeNeed = { kind: 'bridge'; project: string };

const maxNeeds = 200;
/** Maximum number of other projects' jobs, and of other pipelines' jobs, whose artifacts a job takes. */
const maxCrossNeeds = 5;

export const needsKeys = {
  job: new Set(['job', 'artifacts', 'optional', 'parallel']),
  project: new Set(['project', 'ref', 'job', 'artifacts']),
  pipeline: new Set(['pipeline', 'job', 'artifacts', 'optional']),
  bridge: new Set(['pipeline']),
};

/** Reads a required text; null if an error was reported. */
const requiredTextAt = (at: At, node: Hash, key: string): string | null => {
  const text = textAt(at, node, key);
  if (text !== null && text.trim() !== '') return text;
  const isWrongType = text === null && getEntry(node, key) !== undefined;
  if (!isWrongType) reportFault(at, `${key} can't be blank`, getKeyPosition(node, key));
  return null;
};

const parseJobNeed = (at: At, node: Hash): ParsedNeed | null => {
  checkKeys(at, node, needsKeys.job);
  const job = requiredTextAt(at, node, 'job');
  const artifacts = booleanAt(at, node, 'artifacts') ?? true;
  const optional = booleanAt(at, node, 'optional') ?? false;
  const matrixNode = getEntry(getEntry(node, 'parallel'), 'matrix');
  const matrix = matrixNode === undefined ? null : parseMatrixValues(inner(at, 'parallel'), matrixNode);
  return job === null ? null : { kind: 'job', need: { job, artifacts, optional, matrix } };
};

const parseProjectNeed = (at: At, node: Hash): ParsedNeed | null => {
  checkKeys(at, node, needsKeys.project);
  const [project, ref, job] = (['project', 'ref', 'job'] as const).map((key) =>
    requiredTextAt(at, node, key),
  );
  const artifacts = booleanAt(at, node, 'artifacts') ?? true;
  const isComplete = typeof project === 'string' && typeof ref === 'string' && typeof job === 'string';
  return isComplete ? { kind: 'cross_dependency', cross: { project, ref, job, artifacts } } : null;
};

const parsePipelineNeed = (at: At, node: Hash): ParsedNeed | null => {
  checkKeys(at, node, needsKeys.pipeline);
  const [pipeline, job] = [requiredTextAt(at, node, 'pipeline'), requiredTextAt(at, node, 'job')];
  const artifacts = booleanAt(at, node, 'artifacts') ?? true;
  const optional = booleanAt(at, node, 'optional') ?? false;
  if (pipeline === null || job === null) return null;
  return { kind: 'cross_dependency', cross: { pipeline, job, artifacts, optional } };
};

const parseBridgeNeed = (at: At, node: Hash): ParsedNeed | null => {
  checkKeys(at, node, needsKeys.bridge);
  const project = requiredTextAt(at, node, 'pipeline');
  return project === null ? null : { kind: 'bridge', project };
};

const parseHashNeed = (at: At, node: Hash): ParsedNeed | null => {
  const has = (key: string): boolean => node.entries.has(key);
  if (has('project') || has('ref')) return parseProjectNeed(at, node);
  if (!has('pipeline')) return parseJobNeed(at, node);
  return has('job') ? parsePipelineNeed(at, node) : parseBridgeNeed(at, node);
};

const parseNeed = (at: At, node: Node): ParsedNeed | null => {
  const job = getString(node);
  if (job !== null) return { kind: 'job', need: { job, artifacts: true, optional: false, matrix: null } };
  if (node.kind === 'hash') return parseHashNeed(at, node);
  reportFault(at, 'has an unsupported type', node.position);
  return null;
};

const checkNeedKinds = (
  at: At,
  node: Node,
  parsed: readonly ParsedNeed[],
  allowed: readonly Kind[],
): void => {
  const kinds = [...new Set(parsed.map(({ kind }) => kind))].filter((kind) => !allowed.includes(kind));
  if (kinds.length > 0) reportFault(at, `config uses invalid types: ${kinds.join(', ')}`, node.position);
  const cross = parsed.flatMap((one) => (one.kind === 'cross_dependency' ? [one.cross] : []));
  const projectCount = cross.filter(({ project }) => project !== undefined).length;
  if (Math.max(projectCount, cross.length - projectCount) <= maxCrossNeeds) return;
  reportFault(at, `config must be less than or equal to ${maxCrossNeeds}`, node.position);
};

export const parseNeeds = (at: At, node: Node, allowed: readonly Kind[]): Needs => {
  if (node.kind !== 'list' && node.kind !== 'hash') {
    reportFault(at, 'config can only be a hash or an array', node.position);
    return { needs: [], cross_needs: [], mirrors: null };
  }
  const items = node.kind === 'list' ? flatItems(node).filter((item) => !isNull(item)) : [node];
  if (items.length > maxNeeds)
    reportFault(at, `config has too many entries (maximum ${maxNeeds})`, node.position);
  const parsed = items.map((item) => parseNeed(inner(at, 'need'), item)).filter((one) => one !== null);
  checkNeedKinds(at, node, parsed, allowed);
  const bridges = parsed.flatMap((one) => (one.kind === 'bridge' ? [one.project] : []));
  if (bridges.length > 1) reportFault(at, 'config should contain at most one bridge need', node.position);
  return {
    needs: parsed.flatMap((one) => (one.kind === 'job' ? [one.need] : [])),
    cross_needs: parsed.flatMap((one) => (one.kind === 'cross_dependency' ? [one.cross] : [])),
    mirrors: bridges[0] ?? null,
  };
};
