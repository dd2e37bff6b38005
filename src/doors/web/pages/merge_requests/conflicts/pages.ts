/** The page on which the conflicts of a merge request are resolved: `/group/project/-/merge_requests/7/conflicts`. */
import type { Labels } from '../../../../../review/merge_requests/conflicts/conflict_text.ts';
import {
  type ConflictHeads,
  type Conflicts,
  type TextConflict,
  getLabels,
  getTextConflicts,
  loadConflicts,
  requirePushableSource,
} from '../../../../../review/merge_requests/conflicts/load_conflicts.ts';
import { resolveConflicts } from '../../../../../review/merge_requests/conflicts/resolve_conflicts.ts';
import { type LoadedMergeRequest, findMergeRequest } from '../../../../../review/merge_requests/find.ts';
import { withMergeStatus } from '../../../../../review/merge_requests/merging/merge_checks.ts';
import type { Project } from '../../../../../projects/projects/find.ts';
import { isBeyondLimits } from '../../../../../platform/git/failure.ts';
import { hash, longText, object, optional, text } from '../../../../../platform/http/schema.ts';
import { Redirect, type View, type Visit, page, redirect } from '../../../page.ts';
import { attemptRefChange } from '../../../parts/code/attempt_ref_change.ts';
import { form, hidden, textArea } from '../../../parts/form.ts';
import { type Html, html } from '../../../parts/html.ts';
import { spellCount } from '../../../../../platform/spell_count.ts';
import { oneRequest, requestPath, requestsRoutePath } from '../paths.ts';
import { requestFrame } from '../frame/merge_request_layout.ts';
import { fileCard, lostCards } from './conflict_file_card.ts';
import { refusedPart } from './refused_conflicts.ts';
import {
  type Choices,
  choiceFor,
  lostElsewhere,
  lostText,
  readChoices,
  resolveFile,
} from './sent_choices.ts';

const routePath = `${requestsRoutePath}/:iid/conflicts`;

type Shown = {
  loaded: LoadedMergeRequest;
  source: Project;
  /** null: nothing conflicts. */
  conflicts: Conflicts | null;
  choices: Choices;
  message: string;
  problems?: ReadonlyMap<string, string>;
  alert?: string;
  status?: number;
};

const noChoices: Choices = new Map();

const defaultMessage = (loaded: LoadedMergeRequest): string => {
  const { ours, theirs } = getLabels(loaded);
  return `Merge branch '${theirs}' into '${ours}'`;
};

const formPart = (
  visit: Visit,
  { loaded, choices, message, problems }: Shown,
  { heads, files }: { heads: ConflictHeads; files: TextConflict[] },
): Html => {
  const labels = getLabels(loaded);
  const options = {
    action: requestPath(loaded, '/conflicts'),
    submit: 'Commit to source branch',
    hasFiles: true,
  };
  return html`<p>${spellCount(files.length, 'file')} of <code>${labels.ours}</code> (source branch) and <code>${labels.theirs}</code> (target branch) ${files.length === 1 ? 'conflicts' : 'conflict'}. The result is committed to <code>${labels.ours}</code> as a merge of <code>${labels.theirs}</code>.</p>
${form(
  visit,
  options,
  hidden('source_sha', heads.source_sha),
  hidden('target_sha', heads.target_sha),
  html`${files.map((file, index) =>
    fileCard({
      index,
      file,
      labels,
      choice: choiceFor(choices, file),
      lost: lostText(choices, file),
      problem: problems?.get(file.path),
    }),
  )}${lostCards(lostElsewhere(choices, files), files.length)}`,
  textArea({ name: 'commit_message', label: 'Commit message', value: message, rows: 3 }),
)}`;
};

const contentPart = (visit: Visit, shown: Shown): Html => {
  const { loaded, conflicts, choices } = shown;
  const typed = lostCards(lostElsewhere(choices, []), 0);
  if (conflicts === null) {
    return html`<p>Nothing conflicts with the target branch.</p>${typed}<p><a class="button" href="${requestPath(loaded)}">Back to the merge request</a></p>`;
  }
  const files = getTextConflicts(conflicts);
  if (files === null) return html`${refusedPart(visit, shown, conflicts)}${typed}`;
  return formPart(visit, shown, { heads: conflicts.heads, files });
};

const conflictsView = async (visit: Visit, shown: Shown): Promise<View> => {
  const { loaded, alert, status } = shown;
  const view = await requestFrame(
    visit,
    loaded,
    {
      tab: 'overview',
      ...(alert !== undefined && { alert }),
      ...(status !== undefined && { view: { status } }),
    },
    html`<section class="resolve-conflicts" aria-labelledby="resolve_conflicts"><h2 id="resolve_conflicts">Resolve conflicts</h2>${contentPart(visit, shown)}</section>`,
  );
  return { ...view, title: `Resolve conflicts · ${view.title}` };
};

type Ends = Pick<Shown, 'loaded' | 'source'>;

/**
 * Loads the merge request for a user who can push to its source branch; redirects to its page if it is not open.
 * @throws Failure 403, 404
 */
const open = async (
  { call }: Visit,
  { project, iid }: { project: string; iid: number },
): Promise<Ends | Redirect> => {
  const loaded = await findMergeRequest(call, project, iid);
  if (loaded.merge_request.state !== 'opened') return redirect(requestPath(loaded));
  const source = await requirePushableSource(call, loaded);
  return { loaded: await withMergeStatus(call, loaded), source };
};

const loadOrRefuse = async (visit: Visit, loaded: LoadedMergeRequest): Promise<Conflicts | null> => {
  try {
    return await loadConflicts(visit.call, loaded);
  } catch (error) {
    if (!isBeyondLimits(error)) throw error;
    const { checked_source_sha: source_sha, checked_target_sha: target_sha } = loaded.merge_request;
    return { heads: { source_sha: source_sha ?? '', target_sha: target_sha ?? '' }, files: [], total: 0 };
  }
};

const show = page({
  method: 'GET',
  path: routePath,
  audience: 'user',
  params: object(oneRequest),
  handle: async (visit, named) => {
    const ends = await open(visit, named);
    if (ends instanceof Redirect) return ends;
    const { loaded } = ends;
    const conflicts = await loadOrRefuse(visit, loaded);
    return await conflictsView(visit, {
      ...ends,
      conflicts,
      choices: noChoices,
      message: defaultMessage(loaded),
    });
  },
});

type Resolved = { files: { path: string; content: Buffer }[]; problems: Map<string, string> };

const resolveFiles = (files: readonly TextConflict[], choices: Choices, labels: Labels): Resolved => {
  const resolved: Resolved = { files: [], problems: new Map() };
  for (const file of files) {
    const result = resolveFile(file, choiceFor(choices, file), labels);
    if ('problem' in result) resolved.problems.set(file.path, result.problem);
    else resolved.files.push({ path: file.path, content: Buffer.from(result.text) });
  }
  return resolved;
};

const movedText =
  'The source or the target branch changed after you opened this page. Check the conflicts again: your choices are kept for files with unchanged conflicts.';

/** Commits the choices. */
const submit = async (visit: Visit, shown: Shown, conflicts: Conflicts): Promise<View | Redirect> => {
  const { loaded, choices, message } = shown;
  const { files, problems } = resolveFiles(getTextConflicts(conflicts) ?? [], choices, getLabels(loaded));
  if (problems.size > 0) {
    const alert = `${spellCount(problems.size, 'file')} ${problems.size === 1 ? 'is' : 'are'} not resolved.`;
    return await conflictsView(visit, { ...shown, problems, alert });
  }
  let isMoved = false;
  const text = message.trim();
  const resolution = { heads: conflicts.heads, files, message: text === '' ? defaultMessage(loaded) : text };
  const refused = await attemptRefChange(async () => {
    isMoved = (await resolveConflicts(visit.call, loaded, resolution)).kind === 'moved';
  });
  if (refused !== null)
    return await conflictsView(visit, {
      ...shown,
      alert: refused.text ?? 'The resolution cannot be committed.',
    });
  if (isMoved) return await redrawMoved(visit, shown);
  return redirect(requestPath(loaded), 'The conflicts were resolved.');
};

/** Shows the conflicts of the branches as they are now. */
const redrawMoved = async (visit: Visit, shown: Shown): Promise<View> => {
  const loaded = await withMergeStatus(visit.call, shown.loaded);
  const conflicts = await loadOrRefuse(visit, loaded);
  return await conflictsView(visit, { ...shown, loaded, conflicts, alert: movedText, status: 409 });
};

const resolve = page({
  method: 'POST',
  path: routePath,
  audience: 'user',
  params: object({
    ...oneRequest,
    source_sha: optional(text({ maxLength: 64 })),
    target_sha: optional(text({ maxLength: 64 })),
    commit_message: optional(longText()),
    files: optional(hash({})),
  }),
  handle: async (visit, { project, iid, source_sha, target_sha, commit_message, files }) => {
    const ends = await open(visit, { project, iid });
    if (ends instanceof Redirect) return ends;
    const { loaded } = ends;
    const conflicts = await loadOrRefuse(visit, loaded);
    const shown: Shown = {
      ...ends,
      conflicts,
      choices: readChoices(files),
      message: commit_message ?? defaultMessage(loaded),
    };
    const { heads } = conflicts ?? {};
    const isSeen = heads?.source_sha === source_sha && heads?.target_sha === target_sha;
    if (!isSeen) return await conflictsView(visit, { ...shown, alert: movedText, status: 409 });
    if (conflicts === null || getTextConflicts(conflicts) === null) {
      return await conflictsView(visit, { ...shown, alert: 'These conflicts cannot be resolved here.' });
    }
    return await submit(visit, shown, conflicts);
  },
});

export const conflictsPages = [show, resolve];
