/** The pushes to the source branch as events of the timeline. */
import type { LoadedMergeRequest } from '../../../../../review/merge_requests/find.ts';
import { pageRequest } from '../../../../../platform/http/page.ts';
import type { VersionRow } from '../../../../../review/merge_requests/versions/json.ts';
import { listVersions } from '../../../../../review/merge_requests/versions/queries.ts';
import type { Visit } from '../../../page.ts';
import { spellCount } from '../../../../../platform/spell_count.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { relative } from '../../../parts/timestamp.ts';
import type { TimelineEvent } from '../../../parts/timeline/timeline_context.ts';
import { requestPath } from '../paths.ts';

/** The timeline shows the newest 100 versions. */
const newestPage = pageRequest({ per_page: 100 });

type Shown = { version: VersionRow; before: VersionRow; number: number };

const eventPart = (loaded: LoadedMergeRequest, { version, before, number }: Shown): Html => {
  const { id, head_commit_sha: head, commits_count, created_at } = version;
  const query = new URLSearchParams({
    diff_id: String(id),
    ...(before.head_commit_sha !== null && { start_sha: before.head_commit_sha }),
  });
  const changes = `${requestPath(loaded, '/diffs')}?${query.toString()}`;
  return html`<div class="event" id="version_${number}"><span class="dot">${icon('commit')}</span><div><strong>Version ${number}</strong> with ${spellCount(commits_count, 'commit')}${head !== null && html` at <code>${head.slice(0, 8)}</code>`} · <a href="${changes}">what changed since version ${number - 1}</a> · <a class="muted" href="#version_${number}">${relative(created_at)}</a></div></div>
`;
};

/** Loads the versions after the first one, the oldest first. */
export const loadVersionEvents = async (
  { call }: Visit,
  loaded: LoadedMergeRequest,
): Promise<TimelineEvent[]> => {
  const { items, total } = await listVersions(call.db, loaded.target.id, newestPage);
  return items
    .flatMap((version, index) => {
      const before = items[index + 1];
      return before === undefined ? [] : [{ version, before, number: total - index }];
    })
    .map((shown) => ({ at: shown.version.created_at, part: eventPart(loaded, shown) }))
    .toReversed();
};
