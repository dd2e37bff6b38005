/** `needs`: which jobs one waits for in place of its stage, and whose artifacts it takes. */
import { type At, booleanAt, fault, inner, knowsKeys, textAt } from './check.ts';
import { type Hash, type Node, entryOf, flatItems, isNull, keyPlace, stringOf } from './node.ts';
import { matrixValuesOf } from './parallel.ts';
import type { CrossNeed, Need } from './plan_types.ts';

/** A job of the same pipeline; artifacts of another pipeline; a pipeline whose status is the job's. */
type Kind = 'job' | 'cross_dependency' | 'bridge';

export type Needs = {
  needs: Need[];
  cross_needs: CrossNeed[];
  /** Full path of the project whose newest pipeline the job is like, variables in it. */
  mirrors: string | null;
};

type Found = { kind: 'job'; need: Need } | { kind: 'cross_dependency'; cross: CrossNeed } | Bridge;
type Bridge = { kind: 'bridge'; project: string };

const mostNeeds = 200;
/** Jobs of other projects, and jobs of other pipelines, that one takes artifacts of. */
const mostCross = 5;

const keysOf = {
  job: new Set(['job', 'artifacts', 'optional', 'parallel']),
  project: new Set(['project', 'ref', 'job', 'artifacts']),
  pipeline: new Set(['pipeline', 'job', 'artifacts', 'optional']),
  bridge: new Set(['pipeline']),
};

/** A text that has to be there; null: it was told that there is none. */
const wordAt = (at: At, node: Hash, key: string): string | null => {
  const text = textAt(at, node, key);
  if (text !== null && text.trim() !== '') return text;
  const isOther = text === null && entryOf(node, key) !== undefined;
  if (!isOther) fault(at, `${key} can't be blank`, keyPlace(node, key));
  return null;
};

const jobNeed = (at: At, node: Hash): Found | null => {
  knowsKeys(at, node, keysOf.job);
  const job = wordAt(at, node, 'job');
  const artifacts = booleanAt(at, node, 'artifacts') ?? true;
  const optional = booleanAt(at, node, 'optional') ?? false;
  const given = entryOf(entryOf(node, 'parallel'), 'matrix');
  const matrix = given === undefined ? null : matrixValuesOf(inner(at, 'parallel'), given);
  return job === null ? null : { kind: 'job', need: { job, artifacts, optional, matrix } };
};

const projectNeed = (at: At, node: Hash): Found | null => {
  knowsKeys(at, node, keysOf.project);
  const [project, ref, job] = (['project', 'ref', 'job'] as const).map((key) => wordAt(at, node, key));
  const artifacts = booleanAt(at, node, 'artifacts') ?? true;
  const isWhole = typeof project === 'string' && typeof ref === 'string' && typeof job === 'string';
  return isWhole ? { kind: 'cross_dependency', cross: { project, ref, job, artifacts } } : null;
};

const pipelineNeed = (at: At, node: Hash): Found | null => {
  knowsKeys(at, node, keysOf.pipeline);
  const [pipeline, job] = [wordAt(at, node, 'pipeline'), wordAt(at, node, 'job')];
  const artifacts = booleanAt(at, node, 'artifacts') ?? true;
  const optional = booleanAt(at, node, 'optional') ?? false;
  if (pipeline === null || job === null) return null;
  return { kind: 'cross_dependency', cross: { pipeline, job, artifacts, optional } };
};

const bridgeNeed = (at: At, node: Hash): Found | null => {
  knowsKeys(at, node, keysOf.bridge);
  const project = wordAt(at, node, 'pipeline');
  return project === null ? null : { kind: 'bridge', project };
};

const hashNeed = (at: At, node: Hash): Found | null => {
  const has = (key: string): boolean => node.entries.has(key);
  if (has('project') || has('ref')) return projectNeed(at, node);
  if (!has('pipeline')) return jobNeed(at, node);
  return has('job') ? pipelineNeed(at, node) : bridgeNeed(at, node);
};

const needOf = (at: At, node: Node): Found | null => {
  const job = stringOf(node);
  if (job !== null) return { kind: 'job', need: { job, artifacts: true, optional: false, matrix: null } };
  if (node.kind === 'hash') return hashNeed(at, node);
  fault(at, 'has an unsupported type', node.place);
  return null;
};

const checkAll = (at: At, node: Node, found: readonly Found[], allowed: readonly Kind[]): void => {
  const kinds = [...new Set(found.map(({ kind }) => kind))].filter((kind) => !allowed.includes(kind));
  if (kinds.length > 0) fault(at, `config uses invalid types: ${kinds.join(', ')}`, node.place);
  const cross = found.flatMap((one) => (one.kind === 'cross_dependency' ? [one.cross] : []));
  const ofProjects = cross.filter(({ project }) => project !== undefined).length;
  if (Math.max(ofProjects, cross.length - ofProjects) <= mostCross) return;
  fault(at, `config must be less than or equal to ${mostCross}`, node.place);
};

export const needsOf = (at: At, node: Node, allowed: readonly Kind[]): Needs => {
  if (node.kind !== 'list' && node.kind !== 'hash') {
    fault(at, 'config can only be a hash or an array', node.place);
    return { needs: [], cross_needs: [], mirrors: null };
  }
  const items = node.kind === 'list' ? flatItems(node).filter((item) => !isNull(item)) : [node];
  if (items.length > mostNeeds) fault(at, `config has too many entries (maximum ${mostNeeds})`, node.place);
  const found = items.map((item) => needOf(inner(at, 'need'), item)).filter((one) => one !== null);
  checkAll(at, node, found, allowed);
  const bridges = found.flatMap((one) => (one.kind === 'bridge' ? [one.project] : []));
  if (bridges.length > 1) fault(at, 'config should contain at most one bridge need', node.place);
  return {
    needs: found.flatMap((one) => (one.kind === 'job' ? [one.need] : [])),
    cross_needs: found.flatMap((one) => (one.kind === 'cross_dependency' ? [one.cross] : [])),
    mirrors: bridges[0] ?? null,
  };
};
