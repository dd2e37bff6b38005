import { type Call } from '../access/call.ts';
import { notFound } from '../errors.ts';
import { type Ref, type RefUpdate, zeroOid } from '../git/protocol_types.ts';
import { changeRefs, retrying } from './change_refs.ts';
import { type Code, defaultRefOf } from './code.ts';
import { isProtected, mayPushTo, protectedBranches } from './protected.ts';
import { branchPrefix, findRef, refusal, refsNamed } from './resolve.ts';

/**
 * Deletes a branch.
 * @throws Failure 404 where there is none, 405 for the default branch and a protected one
 */
export const deleteBranch = async (call: Call, code: Code, branch: string): Promise<void> => {
  const { project, repository } = code;
  const name = branchPrefix + branch;
  await retrying(async () => {
    const ref = await findRef(repository, name);
    if (ref === null) throw notFound('Branch');
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

/** Branches that one transaction of refs takes, and that one request looks at. */
const round = 200;
const most = 20_000;

const branchesOf = async ({ repository }: Code): Promise<Ref[]> => {
  const page = { offset: 0, limit: most };
  const { refs } = await repository.ask('refs.list', { prefix: branchPrefix, sort: 'name', ...page });
  return refs;
};

/** Deletes what the default branch has, but for protected branches. */
export const deleteMergedBranches = async (call: Call, code: Code): Promise<void> => {
  const { project, repository } = code;
  const defaultRef = defaultRefOf(project);
  const [into] = await refsNamed(repository, defaultRef === null ? [] : [defaultRef]);
  if (into?.commit === null || into?.commit === undefined) return;
  const rules = await protectedBranches(call.db, project.id);
  const refs = (await branchesOf(code)).filter(
    ({ name, commit }) =>
      name !== defaultRef && commit !== null && !isProtected(rules, name.slice(branchPrefix.length)),
  );
  const ids = refs.map(({ target }) => target);
  const { merged } = await repository.ask('commits.merged', { into: into.commit, ids });
  const updates = refs
    .filter((_ref, at) => merged[at])
    .map(({ name, target }): RefUpdate => ({ ref: name, old: target, new: zeroOid }));
  for (let at = 0; at < updates.length; at += round) {
    // oxlint-disable-next-line no-await-in-loop -- one bounded transaction of refs after another
    await deleteRound(call, code, updates.slice(at, at + round));
  }
};

/** Those that were protected, made the default branch or moved meanwhile stay. */
const deleteRound = async (call: Call, { project }: Code, updates: RefUpdate[]): Promise<void> => {
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
