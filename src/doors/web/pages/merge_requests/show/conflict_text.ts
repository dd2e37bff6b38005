/** Says which files of a merge request conflict, and which commands resolve the conflicts. */
import { may } from '../../../../../core/access/may.ts';
import { canReadCode } from '../../../../../core/access/visible.ts';
import type { Project } from '../../../../../projects/projects/find.ts';
import type { LoadedMergeRequest } from '../../../../../review/merge_requests/find.ts';
import type { Visit } from '../../../page.ts';
import { fileNameList } from '../../../parts/code/file_name_list.ts';
import { type Html, html } from '../../../parts/html.ts';
import { spellCount } from '../../../../../platform/spell_count.ts';
import { cloneAddresses } from '../../projects/clone_menu.ts';
import { checkOutHead, quoteWord } from '../check_out_commands.ts';
import type { OpenPage } from './load_overview.ts';

/** A merge request with the project of its source branch; null if it was deleted. */
type Ends = { loaded: LoadedMergeRequest; source: Project | null };

/**
 * Lists the commands that merge the target branch into the branch of a fork. The last command pushes, if the user can
 * push: they see the URL of the fork.
 */
const forkCommands = (visit: Visit, { loaded, source }: Ends, mayPush: boolean): string[] => {
  const { source_branch, target_branch } = loaded.merge_request;
  const isShown = source !== null && mayPush && canReadCode(visit.call.viewer, source);
  const [address] = isShown ? cloneAddresses(visit, source) : [];
  return [
    'git fetch origin',
    checkOutHead(loaded),
    `git merge ${quoteWord(`origin/${target_branch}`)}`,
    ...(address === undefined ? [] : [`git push ${address.url} ${quoteWord(`HEAD:${source_branch}`)}`]),
  ];
};

const ownCommands = ({ loaded }: Ends, mayPush: boolean): string[] => {
  const { source_branch, target_branch } = loaded.merge_request;
  return [
    'git fetch origin',
    `git checkout ${quoteWord(source_branch)}`,
    // The reader's branch may be older than the branch of the merge request.
    `git merge --ff-only ${quoteWord(`origin/${source_branch}`)}`,
    `git merge ${quoteWord(`origin/${target_branch}`)}`,
    ...(mayPush ? [`git push origin ${quoteWord(source_branch)}`] : []),
  ];
};

const mayPushTo = ({ call }: Visit, { source }: Ends): boolean =>
  source !== null && may(call.viewer, 'push_code', source);

/** Lists the commands that merge the target branch into the source branch. */
export const resolveCommands = (visit: Visit, ends: Ends): string[] => {
  const { merge_request, project } = ends.loaded;
  const isFork = merge_request.source_project_id !== project.id;
  const mayPush = mayPushTo(visit, ends);
  return isFork ? forkCommands(visit, ends, mayPush) : ownCommands(ends, mayPush);
};

const helpPart = (visit: Visit, shown: OpenPage): Html => {
  const mayPush = mayPushTo(visit, shown);
  const note = html`<p class="muted small">A user who can push to the source branch has to push the result.</p>`;
  return html`<details class="act"><summary>How to resolve them</summary><pre tabindex="0">${resolveCommands(visit, shown).join('\n')}</pre>${!mayPush && note}</details>`;
};

/** Renders the conflict with the target branch. */
export const conflictText = (visit: Visit, shown: OpenPage): Html => {
  const { target_branch } = shown.loaded.merge_request;
  const { conflicts } = shown.checks;
  return html`Conflicts with <code>${target_branch}</code>${conflicts !== null && html` in ${spellCount(conflicts.total, 'file')}${fileNameList(conflicts)}`}${helpPart(visit, shown)}`;
};
