/** `trigger`: a job that starts another pipeline, of what it includes or of another project. */
import { type At, booleanAt, fault, hashOf, inner, knowsKeys, oneOfAt, textAt } from './check.ts';
import { type Hash, type Node, entryOf, isNull, keyPlace, plainOf, stringOf } from './node.ts';
import type { Job, Trigger } from './plan_types.ts';

const keys = new Set(['project', 'branch', 'include', 'strategy', 'forward', 'inputs']);
const forwardKeys = new Set(['yaml_variables', 'pipeline_variables']);
/** Files of one child. */
const mostIncludes = 3;

const usual = { branch: null, strategy: null, inputs: null };
const all = { yaml_variables: true, pipeline_variables: false };

const forwardOf = (at: At, node: Node | undefined): Trigger['forward'] => {
  const hash = hashOf(at, node);
  if (hash === null) return all;
  knowsKeys(at, hash, forwardKeys);
  return {
    yaml_variables: booleanAt(at, hash, 'yaml_variables') ?? all.yaml_variables,
    pipeline_variables: booleanAt(at, hash, 'pipeline_variables') ?? all.pipeline_variables,
  };
};

const isEntry = (node: Node): boolean => node.kind === 'hash' || stringOf(node) !== null;

const includeOf = (at: At, node: Node): unknown[] | null => {
  const entries = node.kind === 'list' ? node.items : [node];
  if (!entries.every(isEntry)) {
    fault(at, 'config should be a string, a hash, or an array of them', node.place);
    return null;
  }
  if (entries.length > mostIncludes) {
    fault(at, `config is too long (maximum is ${mostIncludes})`, node.place);
    return null;
  }
  return entries.map(plainOf);
};

const targetOf = (at: At, hash: Hash): Pick<Trigger, 'project' | 'include'> | null => {
  const include = entryOf(hash, 'include');
  const project = textAt(at, hash, 'project');
  if (include === undefined && (project ?? '').trim() === '') {
    fault(at, 'config should name a project or an include', hash.place, "project can't be blank");
    return null;
  }
  if (include !== undefined && hash.entries.has('project')) {
    fault(at, 'config contains unknown keys: project', keyPlace(hash, 'project'));
    return null;
  }
  if (include !== undefined && hash.entries.has('branch')) {
    fault(at, 'config contains unknown keys: branch', keyPlace(hash, 'branch'));
  }
  return { project, include: include === undefined ? null : includeOf(inner(at, 'include'), include) };
};

/** null: the job runs a script, or what stands there was told to be wrong. */
export const triggerOf = (at: At, node: Node | undefined): Trigger | null => {
  if (node === undefined || isNull(node)) return null;
  const project = stringOf(node);
  if (project !== null && project.trim() !== '') return { ...usual, project, include: null, forward: all };
  if (node.kind !== 'hash') {
    fault(at, 'config has to be either a string or a hash', node.place);
    return null;
  }
  knowsKeys(at, node, keys);
  const target = targetOf(at, node);
  const inputs = entryOf(node, 'inputs');
  return (
    target && {
      ...target,
      branch: textAt(at, node, 'branch'),
      strategy: oneOfAt(at, node, 'strategy', { words: ['depend', 'mirror'] }),
      forward: forwardOf(inner(at, 'forward'), entryOf(node, 'forward')),
      inputs: inputs === undefined ? null : plainOf(inputs),
    }
  );
};

/** What `default` says of jobs that run: one that starts a pipeline takes none of it. */
export const withoutRun = (job: Job): Job => ({
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
