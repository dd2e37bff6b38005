/** Forms on the page of a commit: comment, revert and cherry-pick. */
import type { PickKind } from '../../../../code/repository/commits/cherry_pick.ts';
import { createCommitComment } from '../../../../code/repository/commits/create_comment.ts';
import { findCode } from '../../../../code/repository/find_code.ts';
import { findCodeForPush } from '../../../../code/repository/branches/create.ts';
import { requireCommit } from '../../../../code/repository/refs/resolve.ts';
import { longText, object, optional, text } from '../../../../platform/http/schema.ts';
import { type Visit, page, redirect } from '../../page.ts';
import { attemptRefChange } from '../../parts/code/attempt_ref_change.ts';
import { commitPath } from '../../parts/code/commit_line.ts';
import { pickChange, pickNotices, pickParams } from '../../parts/code/pick_change.ts';
import { readDiffChoice } from '../../parts/diff/diff_choice.ts';
import { answerForm } from '../../parts/form.ts';
import { projectPath } from '../../parts/frame/project_layout.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { problemText } from '../issuables/submit_form.ts';
import { commitView } from './commit_view.ts';

const routePath = `${projectRoot}/commit/:id`;
const one = { ...projectPath, id: text({ maxLength: 1_000, description: 'commit' }) };
const plain = (visit: Visit) => ({ ...readDiffChoice(visit, {}), hasRefs: false });

const comment = page({
  method: 'POST',
  path: `${routePath}/comments`,
  audience: 'user',
  params: object({ ...one, note: optional(longText()) }),
  handle: async (visit, { project, id, note: sent = '' }) => {
    const { call } = visit;
    const code = await findCode(call, project, 'comment_on_commit');
    const commit = await requireCommit(code, id);
    const note = sent.replaceAll('\r\n', '\n');
    return await answerForm(
      async () => {
        const stored = await createCommitComment(call, code, commit, { note, line_type: 'new' });
        return redirect(`${commitPath(code.project, commit.id)}#note_${stored.id}`);
      },
      async (problems) => await commitView(visit, { project, id }, plain(visit), { typed: note, problems }),
    );
  },
});

const pickPage = (kind: PickKind) =>
  page({
    method: 'POST',
    path: `${routePath}/${kind}`,
    audience: 'user',
    params: object({ ...one, ...pickParams }),
    handle: async (visit, { project, id, ...sent }) => {
      const { call } = visit;
      const code = await findCodeForPush(call, project);
      const commit = await requireCommit(code, id);
      let next = commitPath(code.project, commit.id);
      const problems = await attemptRefChange(async () => {
        next = (await pickChange(call, code, { ...sent, kind, sha: commit.id })) ?? next;
      });
      if (problems === null) return redirect(next, pickNotices[kind]);
      return await commitView(visit, { project, id }, plain(visit), { alert: problemText(problems) });
    },
  });

export const formPages = [comment, pickPage('revert'), pickPage('cherry_pick')];
