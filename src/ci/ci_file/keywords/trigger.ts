/** Parses `trigger`: a job that starts a child pipeline or a pipeline of another project. */
import {
  type At,
  booleanAt,
  reportFault,
  parseHash,
  inner,
  checkKeys,
  oneOfAt,
  textAt,
} from './typed_values.ts';
import {
  type Hash,
  type Node,
  getEntry,
  isNull,
  getKeyPosition,
  toPlainValue,
  getString,
} from '../syntax/node.ts';
import type { Job, Trigger } from '../config_types.ts';

export const triggerKeys = new Set(['project', 'branch', 'include', 'strategy', 'forward', 'inputs']);
const forwardKeys = new Set(['yaml_variables', 'pipeline_variables']);
/** Files of one child pipeline. */
const maxIncludes = 3;

const defaults = { branch: null, strategy: null, inputs: null };
const defaultForward = { yaml_variables: true, pipeline_variables: false };

const parseForward = (at: At, node: Node | undefined): Trigger['forward'] => {
  const hash = parseHash(at, node);
  if (hash === null) return defaultForward;
  checkKeys(at, hash, forwardKeys);
  return {
    yaml_variables: booleanAt(at, hash, 'yaml_variables') ?? defaultForward.yaml_variables,
    pipeline_variables: booleanAt(at, hash, 'pipeline_variables') ?? defaultForward.pipeline_variables,
  };
};

const isEntry = (node: Node): boolean => node.kind === 'hash' || getString(node) !== null;

const parseInclude = (at: At, node: Node): unknown[] | null => {
  const entries = node.kind === 'list' ? node.items : [node];
  if (!entries.every(isEntry)) {
    reportFault(at, 'config should be a string, a hash, or an array of them', node.position);
    return null;
  }
  if (entries.length > maxIncludes) {
    reportFault(at, `config is too long (maximum is ${maxIncludes})`, node.position);
    return null;
  }
  return entries.map(toPlainValue);
};

const parseTarget = (at: At, hash: Hash): Pick<Trigger, 'project' | 'include'> | null => {
  const include = getEntry(hash, 'include');
  const project = textAt(at, hash, 'project');
  if (include === undefined && (project ?? '').trim() === '') {
    reportFault(at, 'config should name a project or an include', hash.position, "project can't be blank");
    return null;
  }
  if (include !== undefined && hash.entries.has('project')) {
    reportFault(at, 'config contains unknown keys: project', getKeyPosition(hash, 'project'));
    return null;
  }
  if (include !== undefined && hash.entries.has('branch')) {
    reportFault(at, 'config contains unknown keys: branch', getKeyPosition(hash, 'branch'));
  }
  return { project, include: include === undefined ? null : parseInclude(inner(at, 'include'), include) };
};

/** Parses the keyword; null if it is absent or an error was reported. */
export const parseTrigger = (at: At, node: Node | undefined): Trigger | null => {
  if (node === undefined || isNull(node)) return null;
  const project = getString(node);
  if (project !== null && project.trim() !== '')
    return { ...defaults, project, include: null, forward: defaultForward };
  if (node.kind !== 'hash') {
    reportFault(at, 'config has to be either a string or a hash', node.position);
    return null;
  }
  checkKeys(at, node, triggerKeys);
  const target = parseTarget(at, node);
  const inputs = getEntry(node, 'inputs');
  return (
    target && {
      ...target,
      branch: textAt(at, node, 'branch'),
      strategy: oneOfAt(at, node, 'strategy', { words: ['depend', 'mirror'] }),
      forward: parseForward(inner(at, 'forward'), getEntry(node, 'forward')),
      inputs: inputs === undefined ? null : toPlainValue(inputs),
    }
  );
};

/** Resets the keywords that a trigger job does not inherit from `default`. */
export const withoutRunKeywords = (job: Job): Job => ({
  ...job,
  script: [],
  before_script: [],
  after_script: [],
  pre_get_sources_script: [],
  image: null,
  services: [],
  tags: [],
  artifacts: null,
  cache: [],
  retry: null,
  timeout: null,
});
