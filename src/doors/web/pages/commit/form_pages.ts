/** Forms on the page of a commit: comments and replies, revert and cherry-pick. */
import type { PickKind } from '../../../../code/repository/commits/cherry_pick.ts';
import { createCommitComment } from '../../../../code/repository/commits/create_comment.ts';
import { type Call, requireActor } from '../../../../core/access/call.ts';
import { type Code, findCode } from '../../../../code/repository/find_code.ts';
import { replyInThread } from '../../../../planning/discussions/commits/comments.ts';
import type { Commit } from '../../../../platform/git/protocol_types.ts';
import { findCodeForPush } from '../../../../code/repository/branches/create.ts';
import { requireCommit } from '../../../../code/repository/refs/resolve.ts';
import { longText, optional, text } from '../../../../platform/http/schema.ts';
import { type Visit, redirect } from '../../page.ts';
import { readRefFailure } from '../../parts/code/attempt_ref_change.ts';
import { commitPath } from '../../parts/code/commit_line.ts';
import { pickChange, pickNotices, pickParams } from '../../parts/code/pick_change.ts';
import { type DiffChoice, diffParams, readDiffChoice } from '../../parts/diff/diff_choice.ts';
import { findOpenFiles } from '../../parts/diff/diff_files.ts';
import { addressWithChoice, readShownDiff, readShownFiles } from '../../parts/diff/diff_part.ts';
import { diffFileId } from '../../parts/diff/file_card.ts';
import { fieldText } from '../../parts/fields/field_text.ts';
import { formPage } from '../../parts/fields/form_page.ts';
import { problemText } from '../../parts/form_problems.ts';
import { projectPath } from '../../parts/frame/project_layout.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { commitView } from './commit_view.ts';

const routePath = `${projectRoot}/commit/:id`;
const one = { ...projectPath, id: text({ maxLength: 1_000, description: 'commit' }) };
const plain = (visit: Visit) => ({ ...readDiffChoice(visit, {}), hasRefs: false });

const linePattern = /^(old|new)_(\d{1,9})$/;

type SentPlace = { path?: string | undefined; old_path?: string | undefined; line?: string | undefined };

/** Returns the line that a comment is on, as the API takes it. */
const toPlace = ({ path, old_path, line = '' }: SentPlace) => {
  const [, side, number] = linePattern.exec(line) ?? [];
  if (number === undefined || path === undefined) return { line_type: 'new' as const };
  return side === 'old'
    ? { path: old_path ?? path, line: Number(number), line_type: 'old' as const }
    : { path, line: Number(number), line_type: 'new' as const };
};

type Stored = { note: string; discussion_id?: string | undefined; place: ReturnType<typeof toPlace> };

/** Stores a comment or a reply. @returns its id */
const storeComment = async (
  call: Call,
  code: Code,
  commit: Commit,
  { note, discussion_id, place }: Stored,
): Promise<number> => {
  if (discussion_id === undefined) {
    return (await createCommitComment(call, code, commit, { note, ...place })).id;
  }
  const key = { project_id: code.project.id, sha: commit.id };
  const reply = { note, discussion_id };
  const stored = await call.write(async (tx) => await replyInThread(tx, requireActor(call), key, reply));
  return stored.id;
};

/**
 * Returns the view of the page after a comment: only the file, if it is folded, because the page of all files shows
 * none of its lines. Its form is the form of all files, if the script opened it in place.
 */
const withFoldedFile = async (
  code: Code,
  commit: Commit,
  choice: DiffChoice,
  path: string | undefined,
): Promise<DiffChoice> => {
  if (path === undefined || choice.file !== undefined) return choice;
  const { diffs } = await readShownDiff(code, [commit.parents[0] ?? null, commit.id], choice);
  const files = await readShownFiles(code, commit.id, diffs, choice);
  const file = files.find(({ new_path }) => new_path === path);
  if (file === undefined || findOpenFiles(files, choice).includes(file)) return choice;
  return { ...choice, file: path, oldPath: file.renamed_file ? file.old_path : undefined };
};

/** Where the comment is: what it is a reply to or the line, and how its page shows the diff. */
const commentAddress = {
  ...one,
  ...diffParams,
  discussion_id: optional(text()),
  path: optional(text({ maxLength: 4_096, description: 'new path of the file of the line' })),
  line: optional(text({ maxLength: 20, description: '`new_12` or `old_12`' })),
};

const comment = formPage({
  path: `${routePath}/comments`,
  audience: 'user',
  address: commentAddress,
  fields: { note: optional(longText()) },
  find: async (visit, { project, id, discussion_id, path, line, ...shown }) => {
    const code = await findCode(visit.call, project, 'comment_on_commit');
    const commit = await requireCommit(code, id);
    const about = { discussion_id, path, old_path: shown.old_path, line };
    return { code, commit, named: { project, id }, choice: readDiffChoice(visit, shown), about };
  },
  fromSent: ({ note }) => fieldText(note),
  run: async ({ call }, { code, commit, choice, about }, { note = '' }) => {
    const { discussion_id, path } = about;
    const next = await withFoldedFile(code, commit, choice, path);
    const stored = await storeComment(call, code, commit, { note, discussion_id, place: toPlace(about) });
    return redirect(`${addressWithChoice(commitPath(code.project, commit.id), next)}#note_${stored}`);
  },
  view: async (visit, { named, choice, about }, { values: typed, problems }) => {
    const { path, line = '' } = about;
    const open = path === undefined ? undefined : `${diffFileId({ new_path: path })}_${line}`;
    const shown = { ...choice, hasRefs: false, comment: open };
    return await commitView(visit, named, shown, { typed, problems, about });
  },
});

const pickPage = (kind: PickKind) =>
  formPage({
    path: `${routePath}/${kind}`,
    audience: 'user',
    address: one,
    fields: pickParams,
    find: async ({ call }, named) => {
      const code = await findCodeForPush(call, named.project);
      return { code, commit: await requireCommit(code, named.id), named };
    },
    fromSent: () => null,
    run: async ({ call }, { code, commit }, { branch, request }) => {
      const newRequest = await pickChange(call, code, { branch, request, kind, sha: commit.id });
      return redirect(newRequest ?? commitPath(code.project, commit.id), pickNotices[kind]);
    },
    readFailure: readRefFailure,
    view: async (visit, { named }, { problems }) =>
      await commitView(visit, named, plain(visit), { alert: problemText(problems) }),
  });

export const formPages = [comment, pickPage('revert'), pickPage('cherry_pick')];
