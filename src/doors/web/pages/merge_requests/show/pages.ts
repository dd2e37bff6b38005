/** The Overview tab of a merge request, and its changes as a diff or patch. */
import { findMergeRequest } from '../../../../../review/merge_requests/find.ts';
import { readRawChanges } from '../../../../../review/merge_requests/versions/raw_changes.ts';
import { notFound } from '../../../../../platform/errors.ts';
import { integer, object, optional, text } from '../../../../../platform/http/schema.ts';
import { RawPage, type Visit, page } from '../../../page.ts';
import { withAnonymousSlot } from '../../../../../core/access/anonymous_slots.ts';
import { projectPath } from '../../../parts/frame/project_layout.ts';
import { timelineParams, withTimelineChoice } from '../../../parts/timeline/activity_nav.ts';
import { requestsRoutePath } from '../paths.ts';
import { requestView } from './request_view.ts';

/** `7`, `7.diff` or `7.patch`. */
const addressPattern = /^(\d{1,15})(?:\.(diff|patch))?$/;

/** Serves the changes as text that browsers do not interpret. */
const rawChanges = async (
  visit: Visit,
  project: string,
  { iid, format }: { iid: number; format: 'diff' | 'patch' },
): Promise<RawPage> => {
  const loaded = await findMergeRequest(visit.call, project, iid);
  const content = await withAnonymousSlot(
    visit,
    async () => await readRawChanges(visit.call, loaded, format),
  );
  return new RawPage(content, {
    'content-type': 'text/plain; charset=utf-8',
    'content-security-policy': "default-src 'none'; sandbox",
  });
};

export const showPages = [
  page({
    method: 'GET',
    path: `${requestsRoutePath}/:iid`,
    audience: 'visitor',
    params: object({
      ...projectPath,
      iid: text({ maxLength: 30, description: 'number, with `.diff` or `.patch` behind it for that form' }),
      page: optional(integer()),
      ...timelineParams,
    }),
    handle: async (visit, { project, iid: sent, page: requested, activity_filter, sort }) => {
      const [, number, format] = addressPattern.exec(sent) ?? [];
      if (number === undefined) throw notFound('Merge Request');
      const iid = Number(number);
      if (format === 'diff' || format === 'patch') return await rawChanges(visit, project, { iid, format });
      return await requestView(
        withTimelineChoice(visit, { activity_filter, sort }),
        await findMergeRequest(visit.call, project, iid),
        { page: requested },
      );
    },
  }),
];
