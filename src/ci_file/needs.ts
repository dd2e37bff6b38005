/** `needs`: which jobs one waits for in place of its stage, and whose artifacts it takes. */
import { type At, booleanAt, fault, inner, knowsKeys } from './check.ts';
import { type Hash, type Node, entryOf, flatItems, isNull, stringOf } from './node.ts';
import { matrixValuesOf } from './parallel.ts';
import type { CrossNeed, Need } from './plan_types.ts';

const needKeys = new Set(['job', 'artifacts', 'optional', 'parallel', 'project', 'ref', 'pipeline']);

export type Needs = { needs: Need[]; cross_needs: CrossNeed[] };

const mostNeeds = 200;

const crossOf = (node: Hash, job: string, artifacts: boolean): CrossNeed => {
  const texts = (['project', 'ref', 'pipeline'] as const).flatMap((key) => {
    const text = stringOf(entryOf(node, key));
    return text === null ? [] : [[key, text] as const];
  });
  return { job, artifacts, ...Object.fromEntries(texts) };
};

const hashNeed = (at: At, node: Hash): Partial<{ need: Need; cross: CrossNeed }> => {
  knowsKeys(at, node, needKeys);
  const job = stringOf(entryOf(node, 'job'));
  const artifacts = booleanAt(at, node, 'artifacts') ?? true;
  const optional = booleanAt(at, node, 'optional') ?? false;
  const isOther = node.entries.has('project');
  if (isOther || node.entries.has('pipeline')) {
    if (isOther || job === null)
      at.problems.warn(`${at.where} of another pipeline is accepted, but not carried out`, node.place);
    return { cross: crossOf(node, job ?? '', artifacts) };
  }
  if (job === null) {
    fault(at, "job can't be blank", node.place);
    return {};
  }
  const matrix = entryOf(entryOf(node, 'parallel'), 'matrix');
  return {
    need: {
      job,
      artifacts,
      optional,
      matrix: matrix === undefined ? null : matrixValuesOf(inner(at, 'parallel'), matrix),
    },
  };
};

const needOf = (at: At, node: Node): Partial<{ need: Need; cross: CrossNeed }> => {
  const job = stringOf(node);
  if (job !== null) return { need: { job, artifacts: true, optional: false, matrix: null } };
  if (node.kind === 'hash') return hashNeed(at, node);
  fault(at, 'has an unsupported type', node.place);
  return {};
};

export const needsOf = (at: At, node: Node): Needs => {
  if (node.kind !== 'list' && node.kind !== 'hash') {
    fault(at, 'config can only be a hash or an array', node.place);
    return { needs: [], cross_needs: [] };
  }
  const items = node.kind === 'list' ? flatItems(node).filter((item) => !isNull(item)) : [node];
  if (items.length > mostNeeds) fault(at, `config has too many entries (maximum ${mostNeeds})`, node.place);
  const found = items.map((item) => needOf(inner(at, 'need'), item));
  return {
    needs: found.flatMap(({ need }) => (need === undefined ? [] : [need])),
    cross_needs: found.flatMap(({ cross }) => (cross === undefined ? [] : [cross])),
  };
};
