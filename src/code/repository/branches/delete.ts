import { type Call } from '../../../core/access/call.ts';
import { conflict, notFound } from '../../../platform/errors.ts';
import { type Oid, type Ref, type RefUpdate, zeroOid } from '../../../platform/git/protocol_types.ts';
import { changeRefs, retryOnConflict } from '../refs/authorized_ref_changes.ts';
import { type Code, getDefaultRef } from '../find_code.ts';
import { isProtected, mayPushTo, loadProtectedBranches } from '../protection/rules.ts';
import { branchPrefix, findRef, refusal, loadRefs } from '../refs/resolve.ts';

/**
 * Deletes a branch.
 * @param expected the commit that it must have; undefined: any
 * @throws Failure 404 if it does not exist, 405 for the default branch and protected branches, 409 if it has another
 * commit than expected
 */
export const deleteBranch = async (call: Call, code: Code, branch: string, expected?: Oid): Promise<void> => {
  const { project, repository } = code;
  const name = branchPrefix + branch;
  await retryOnConflict(async () => {
    const ref = await findRef(repository, name);
    if (ref === null) throw notFound('Branch');
    if (expected !== undefined && ref.target !== expected) {
      throw conflict(`The branch ${branch} has changed since: it was not deleted`);
    }
    const updates = [{ ref: name, old: ref.target, new: zeroOid }];
    await changeRefs(call, {
      project,
      kind: 'branch',
      updates,
      branches: (now, rules) => {
        if (now.default_branch === branch) throw refusal('method_not_allowed', 'Cannot remove HEAD branch');
        if (isProtected(rules, branch)) {
          throw refusal('method_not_allowed', 'Protected branch cant be removed');
        }
        if (!mayPushTo(call.viewer, now, rules, branch)) {
          throw refusal('method_not_allowed', 'You dont have push access to repo');
        }
      },
    });
  });
};

/** Branches deleted in one ref transaction, and branches examined per request. */
const batchSize = 200;
const maxBranches = 20_000;

const listBranches = async ({ repository }: Code): Promise<Ref[]> => {
  const page = { offset: 0, limit: maxBranches };
  const { refs } = await repository.ask('refs.list', { prefix: branchPrefix, sort: 'name', ...page });
  return refs;
};

/** Deletes branches merged into the default branch, except protected branches. */
export const deleteMergedBranches = async (call: Call, code: Code): Promise<void> => {
  const { project, repository } = code;
  const defaultRef = getDefaultRef(project);
  const [into] = await loadRefs(repository, defaultRef === null ? [] : [defaultRef]);
  if (into?.commit === null || into?.commit === undefined) return;
  const rules = await loadProtectedBranches(call.db, project.id);
  const refs = (await listBranches(code)).filter(
    ({ name, commit }) =>
      name !== defaultRef && commit !== null && !isProtected(rules, name.slice(branchPrefix.length)),
  );
  const ids = refs.map(({ target }) => target);
  const { merged } = await repository.ask('commits.merged', { into: into.commit, ids });
  const updates = refs
    .filter((_ref, at) => merged[at])
    .map(({ name, target }): RefUpdate => ({ ref: name, old: target, new: zeroOid }));
  for (let at = 0; at < updates.length; at += batchSize) {
    await deleteBatch(call, code, updates.slice(at, at + batchSize));
  }
};

/** Deletes one batch. Throws a conflict if a branch became protected or the default branch, or moved, meanwhile. */
const deleteBatch = async (call: Call, { project }: Code, updates: RefUpdate[]): Promise<void> => {
  await changeRefs(call, {
    project,
    kind: 'branch',
    updates,
    branches: (now, rules) => {
      const isKept = updates
        .map(({ ref }) => ref.slice(branchPrefix.length))
        .some((branch) => branch === now.default_branch || isProtected(rules, branch));
      if (isKept) throw refusal('conflict', '409 Conflict');
    },
  });
};
