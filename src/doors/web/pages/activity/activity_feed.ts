/** Activity as an Atom feed. */
import type { RawBuilder } from 'kysely';
import { pageRequest } from '../../../../platform/http/page.ts';
import type { RawPage, Visit } from '../../page.ts';
import { atomFeed, type FeedEntry } from '../../parts/feeds/atom.ts';
import { shortenMarkdown } from '../../parts/shorten_text.ts';
import { type ShownEvent, eventPath, eventText } from '../../parts/timeline/activity_list.ts';
import { type ActivityQuery, loadActivity } from './load_activity.ts';

const toEntry = (baseUrl: string, shown: ShownEvent): FeedEntry => {
  const { event, project_path } = shown;
  const { id, author, created_at, note } = event;
  const host = URL.parse(baseUrl)?.host ?? 'gantry';
  return {
    // Several events have the page of one record.
    id: `tag:${host},${created_at.slice(0, 10)}:event/${id}`,
    title: `${author.name} ${eventText(shown)} at ${project_path}`,
    path: eventPath(shown),
    updated: Date.parse(created_at),
    author: { name: author.name, uri: `${baseUrl}/${author.username}` },
    ...(note !== undefined && { summary: shortenMarkdown(note.body) }),
  };
};

type Shown = {
  scope: RawBuilder<boolean>;
  /** Path of the page that the feed follows. */
  path: string;
  /** Path of the feed. */
  self: string;
  title: string;
};

/** Returns the latest activity that the reader sees. */
export const activityFeed = async (
  visit: Visit,
  { scope, title, path, self }: Shown,
  { action }: Pick<ActivityQuery, 'action'>,
): Promise<RawPage> => {
  const { call } = visit;
  const query = { ...pageRequest({}), ...(action !== undefined && { action }) };
  const { items } = await loadActivity(call, scope, query);
  return atomFeed(visit, { title, path, self, entries: items.map((shown) => toEntry(call.baseUrl, shown)) });
};
