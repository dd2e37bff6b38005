/** Shows a commit: its message, relations, pipeline and diffs. */
import type { Code } from '../../../../code/repository/find_code.ts';
import { openCachedCode } from '../../../../code/repository/read_cache.ts';
import {
  type CommitSignature,
  loadCommitSignature,
} from '../../../../code/repository/signatures/commit_signature.ts';
import { toCommitTitle, toShortId } from '../../../../code/repository/commits/json.ts';
import { requireCommit } from '../../../../code/repository/refs/resolve.ts';
import { loadShownPipelines } from '../../parts/pipelines/load_shown_pipelines.ts';
import type { ReadDiff } from '../../../../code/repository/commits/read_diff.ts';
import type { Commit, FileDiff } from '../../../../platform/git/protocol_types.ts';
import { may } from '../../../../core/access/may.ts';
import { type Project, findProjectFor } from '../../../../projects/projects/find.ts';
import { withAnonymousSlot } from '../../../../core/access/anonymous_slots.ts';
import { codePath } from '../../parts/code/code_path.ts';
import { commitLink, commitPath, pipelineStatus, signedTime } from '../../parts/code/commit_line.ts';
import {
  authorAvatar,
  authorName,
  hasOtherCommitter,
  loadCommitPeople,
} from '../../parts/code/commit_people.ts';
import { signatureBadge, signatureTexts } from '../../parts/code/signature_badge.ts';
import { pickForms } from '../../parts/code/pick_form.ts';
import type { DiffChoice } from '../../parts/diff/diff_choice.ts';
import { findCommentPosition } from '../../parts/diff/comment_position.ts';
import { type LineParts, findOpenFiles } from '../../parts/diff/diff_files.ts';
import { addressWithChoice, diffPart, readShownDiff, readShownFiles } from '../../parts/diff/diff_part.ts';
import { parseLines } from '../../parts/diff/parse_lines.ts';
import { keysOf } from '../../parts/diff/row_parts.ts';
import { diffFileId } from '../../parts/diff/file_card.ts';
import { editorTemplate } from '../../parts/markdown_editor.ts';
import { projectLinkPreview } from '../../parts/projects/project_link_preview.ts';
import { projectPagePath, projectView } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { plainTexts } from '../../parts/markdown.ts';
import { type View, type Visit, withRefusal } from '../../page.ts';
import {
  type CardContext,
  type CommentFormState,
  commentsPart,
  lineDiscussion,
  lineForm,
} from './comment_cards.ts';
import { type CommitComments, loadComments, placeComments } from './load_comments.ts';
import { requestsOfCommit } from './requests_of_commit.ts';

/** Branches and tags that are named. */
const maxRefs = 50;

/** Lists the branches and tags that contain the commit. The client script loads them after the page. */
const refsPart = async (
  visit: Visit,
  { project, repository }: Code,
  { id }: Commit,
  hasRefs: boolean,
): Promise<Html> => {
  if (!hasRefs) {
    const more = `${commitPath(project, id)}?refs=1`;
    return html`<p id="refs" data-later="${more}"><a href="${more}">Show branches and tags</a></p>`;
  }
  const { refs } = await withAnonymousSlot(
    visit,
    async () => await repository.ask('commits.refs', { id, type: 'all' }),
  );
  const links = refs
    .slice(0, maxRefs)
    .map(
      ({ type, name }) =>
        html`<a class="badge" href="${codePath(project, 'tree', name)}">${icon(type === 'tag' ? 'tag' : 'branch', type)} ${name}</a> `,
    );
  const more = refs.length - maxRefs;
  return html`<p id="refs">${refs.length === 0 ? 'No branch or tag has it.' : links}${more > 0 && html`and ${more} more`}</p>`;
};

/** Returns the message below its title; '': nothing is left. */
const messageBody = (message: string): string => {
  const [title = ''] = message.split('\n', 1);
  const isCut = toCommitTitle(message) !== title.trimEnd();
  return (isCut ? message : message.slice(title.length)).trim();
};

type Message = { title: Html; body: Html | null };

/** Renders the message. Links references that the viewer can see. */
const showMessage = async ({ call }: Visit, project: Project, { message }: Commit): Promise<Message> => {
  const body = messageBody(message);
  const [title = html``, text] = await plainTexts(call, [toCommitTitle(message), body], project);
  return { title, body: body === '' ? null : html`<pre class="body plain-text">${text}</pre>` };
};

const fact = (name: string, value: Html): Html => html`<div><dt>${name}</dt><dd>${value}</dd></div>`;

const signaturePart = ({ status, user }: CommitSignature): Html =>
  html`${signatureBadge(status)} ${
    status === 'verified' && user !== null && html`<a href="/${user.username}">${user.name}</a>`
  }${status !== 'verified' && html`<span class="muted">${signatureTexts[status]}</span>`}`;

const facts = async (visit: Visit, code: Code, commit: Commit, hasRefs: boolean): Promise<Html> => {
  const { project } = code;
  const [pipelines, signature, requests, refs] = await Promise.all([
    loadShownPipelines(visit, project, [commit.id]),
    loadCommitSignature(visit.call, code, commit),
    requestsOfCommit(visit, project, commit.id),
    refsPart(visit, code, commit, hasRefs),
  ]);
  const pipeline = pipelines.get(commit.id);
  const parents = commit.parents.map(
    (id) => html`${commitLink(project, { id, text: html`<code>${toShortId(id)}</code>` })} `,
  );
  const { author, committer } = commit;
  return html`<dl class="facts body">${fact('Commit', html`<code>${commit.id}</code> <button type="button" class="small icon-button" data-copy="${commit.id}" hidden aria-label="Copy the id">${icon('copy')}</button>`)}
${fact(commit.parents.length === 1 ? 'Parent' : 'Parents', parents.length === 0 ? html`none: a first commit` : html`${parents}`)}
${hasOtherCommitter(commit) ? fact('Committer', html`${committer.name}, ${signedTime(committer)}`) : author.time !== committer.time && fact('Committed', signedTime(committer))}
${signature !== null && fact('Signature', signaturePart(signature))}
${pipeline !== undefined && fact('Pipeline', pipelineStatus(project, pipeline))}
${requests !== null && fact('Merge requests', requests)}
${fact('Branches and tags', refs)}</dl>`;
};

/** Renders the actions on the commit for users who can push; null if the viewer cannot. */
const pushActions = (visit: Visit, project: Project, { id }: Commit): Html | null =>
  visit.call.signedIn && may(visit.call.viewer, 'push_code', project)
    ? html`<div class="body">${pickForms(visit, { projectId: project.id, path: commitPath(project, id), branch: project.default_branch ?? '' })}</div>`
    : null;

const actions = (visit: Visit, project: Project, { id }: Commit): Html => {
  const path = commitPath(project, id);
  const tag =
    visit.call.signedIn &&
    may(visit.call.viewer, 'push_code', project) &&
    html`<a class="button" href="${projectPagePath(project, 'tags')}/new?ref=${id}">${icon('tag')} New tag</a>`;
  return html`<span class="row"><a class="button" href="${codePath(project, 'tree', id)}">${icon('folder')} Browse files</a>
${tag}<a class="button" href="${path}.diff">Diff</a><a class="button" href="${path}.patch">Patch</a></span>`;
};

/** Content of a refused form. */
export type CommitPageState = CommentFormState & { alert?: string };

type Shown = DiffChoice & {
  hasRefs: boolean;
  /** The line that has the form for a comment. */
  comment?: string | undefined;
};

/** Finds the line that has the form for a comment; null if the page does not show it. */
const findOpenLine = (
  files: readonly FileDiff[],
  comment: string | undefined,
): { file: FileDiff; line: string } | null => {
  const { file, line = null } = findCommentPosition(files, comment) ?? {};
  if (file === undefined || line === null) return null;
  const isShown = parseLines(file.diff).some((row) => keysOf(row).some((key) => key === line));
  return isShown ? { file, line } : null;
};

type Talk = { context: CardContext; comments: CommitComments; state: CommentFormState };

/** Renders the diff with the comments on its lines, and the other comments below it. */
const diffAndComments = async (
  visit: Visit,
  code: Code,
  { commit, diff, shown }: { commit: Commit; diff: ReadDiff; shown: Shown },
  { context, comments, state }: Talk,
): Promise<Html> => {
  const files = await readShownFiles(code, commit.id, diff.diffs, shown);
  const openFiles = findOpenFiles(files, shown);
  const { byFile, rest } = placeComments(comments.discussions, openFiles);
  const open = context.mayComment ? findOpenLine(openFiles, shown.comment) : null;
  const commentPath = (file: FileDiff): string =>
    addressWithChoice(context.linePath, shown, { comment: `${diffFileId(file)}_` }).replaceAll('&', '&amp;');
  const linePartsOf = (file: FileDiff): LineParts => {
    const below = new Map<string, Html>();
    for (const [line, some] of byFile.get(file) ?? [])
      below.set(line, html`${some.map((one) => lineDiscussion(context, one))}`);
    if (open?.file === file)
      below.set(open.line, html`${below.get(open.line) ?? null}${lineForm(context, open, state)}`);
    return { below, commentPath: context.mayComment ? commentPath(file) : null };
  };
  const part = await diffPart(diff, {
    visit,
    code,
    from: commit.parents[0] ?? null,
    to: commit.id,
    address: context.path(''),
    choice: shown,
    shown: files,
    linePartsOf,
  });
  const template =
    context.mayComment &&
    html`<template id="comment_template">${lineForm(context, { file: { old_path: '', new_path: '' }, line: '' })}</template>`;
  const hidden = comments.total - comments.discussions.length;
  return html`${part}${template}${commentsPart(context, { rest, hidden }, open === null ? state : {})}${editorTemplate}`;
};

/** @throws Failure 404 for a project or commit that is hidden or missing */
export const commitView = async (
  visit: Visit,
  { project: fullPath, id }: { project: string; id: string },
  shown: Shown,
  { alert, ...state }: CommitPageState = {},
): Promise<View> => {
  const project = await findProjectFor(visit.call, fullPath, 'read_code');
  const code = openCachedCode(visit.call, project);
  const commit = await requireCommit(code, id);
  const [[diff, message], about, comments, people] = await Promise.all([
    withAnonymousSlot(
      visit,
      async () =>
        await Promise.all([
          readShownDiff(code, [commit.parents[0] ?? null, commit.id], shown),
          showMessage(visit, project, commit),
        ]),
    ),
    facts(visit, code, commit, shown.hasRefs),
    loadComments(visit, code, commit),
    loadCommitPeople(visit, project, [commit.author]),
  ]);
  const title = toCommitTitle(commit.message);
  const address = commitPath(project, commit.id);
  const isRefused = alert !== undefined || state.problems !== undefined;
  const context: CardContext = {
    visit,
    project,
    path: (below) => address + below,
    linePath: isRefused ? address : '',
    action: addressWithChoice(`${address}/comments`, shown),
    mayComment: comments.mayComment,
  };
  const view = projectView(
    visit,
    {
      project,
      title: `${title} · ${toShortId(commit.id)}`,
      noun: 'commit',
      hasHeading: true,
      view: {
        isWide: true,
        skip: { to: '#files', text: 'Skip to the diff' },
        ...projectLinkPreview(visit, project, { action: 'read_code', text: commit.message, noIndex: true }),
      },
    },
    html`${alert !== undefined && html`<p class="flash alert" role="alert">${alert}</p>`}<div class="row between"><h1>${message.title}</h1>${actions(visit, project, commit)}</div>
<section class="card" aria-label="About the commit"><header>${authorAvatar(people, commit.author)}<b>${authorName(people, commit.author)}</b><span class="muted">authored ${signedTime(commit.author)}</span></header>
${message.body}${about}${pushActions(visit, project, commit)}</section>
${await diffAndComments(visit, code, { commit, diff, shown }, { context, comments, state })}`,
  );
  return withRefusal(view, isRefused);
};
