/** The sections of merge requests that close an issue, or only mention it. */
import type { LoadedIssue } from '../../../../../planning/issues/find.ts';
import { pageRequest } from '../../../../../platform/http/page.ts';
import { listClosers } from '../../../../../review/merge_requests/issues/closed_by.ts';
import { listRelated } from '../../../../../review/merge_requests/issues/related.ts';
import type { Visit } from '../../../page.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { maxParticipants, section } from '../../../parts/properties/property_sections.ts';

type ShownRequest = {
  id: number;
  project_id: number;
  iid: number;
  title: string;
  state: string;
  references: { relative: string; full: string };
};

export type IssueRequests = { closers: ShownRequest[]; related: ShownRequest[] };

/** Loads the merge requests of both sections, at most twenty each. */
export const loadRequests = async ({ call }: Visit, loaded: LoadedIssue): Promise<IssueRequests> => {
  const some = pageRequest({ per_page: maxParticipants });
  const isClosedByRequest = loaded.issue.merge_requests_count > 0;
  const [closers, related] = await Promise.all([
    isClosedByRequest ? listClosers(call, loaded, some) : { items: [] },
    listRelated(call, loaded, some),
  ]);
  const [closing, all] = [closers, related].map(({ items }) =>
    items.map(({ bytes }) => JSON.parse(bytes.toString('utf8')) as ShownRequest),
  ) as [ShownRequest[], ShownRequest[]];
  const ids = new Set(closing.map(({ id }) => id));
  return { closers: closing, related: all.filter(({ id }) => !ids.has(id)) };
};

const stateWords: Record<string, string> = { opened: 'open', merged: 'merged', closed: 'closed' };

const line = ({ project }: LoadedIssue, request: ShownRequest): Html => {
  const { iid, title, state, project_id, references } = request;
  const [path = ''] = references.full.split('!');
  const reference = project_id === project.id ? `!${iid}` : references.full;
  return html`<div>${icon('merge-request')} <a href="/${path}/merge_requests/${iid}">${reference} ${title}</a> <span class="muted">${stateWords[state] ?? state}</span></div>`;
};

const listSection = (title: string, loaded: LoadedIssue, requests: readonly ShownRequest[]): Html | null =>
  requests.length === 0 ? null : section(title, html`${requests.map((one) => line(loaded, one))}`);

export const requestSections = (loaded: LoadedIssue, { closers, related }: IssueRequests): Html =>
  html`${listSection('Closed by', loaded, closers)}${listSection('Related merge requests', loaded, related)}`;
