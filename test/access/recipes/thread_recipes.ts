/** Requests for the rows about discussions and integrations. */
import { unique } from '../../support/seed.ts';
import {
  type Maker,
  anothersAward,
  anothersNote,
  anothersNoteAward,
  freshIssue,
  freshProject,
  freshRequest,
  ownAward,
  ownNote,
  ownNoteAward,
  servicesNote,
} from '../makers/makers.ts';
import type { Recipe } from './recipes.ts';
import {
  anothersThread,
  comingRelease,
  itsOwnDiscussion,
  link,
  ownApproval,
  ownThread,
  release,
  tracker,
} from '../makers/thread_makers.ts';

const text = () => ({ body: 'Other' });
const settled = () => ({ resolved: true });

type Thread = { notes: { id: number }[] };

const threadRecipes = (path: string, fresh: Maker): Record<string, Recipe> => {
  const discussions = `${path}/discussions`;
  const discussion = `${discussions}/:discussion_id`;
  const note = `${discussion}/notes/:note_id`;
  const own = { makes: [fresh, ownThread] };
  const anothers = { makes: [fresh, anothersThread] };
  return {
    [`GET ${discussions}`]: {
      holds: (item, names) => (item as unknown as Thread).notes.some(({ id }) => id === names['note_id']),
    },
    [`GET ${discussion}`]: anothers,
    [`POST ${discussions}`]: { makes: [fresh], body: text },
    [`PUT ${discussion}`]: { ...anothers, body: settled },
    [`POST ${discussion}/notes {a thread}`]: { ...anothers, body: text },
    [`POST ${discussion}/notes {a comment of its own}`]: {
      makes: [fresh, anothersNote, itsOwnDiscussion],
      body: text,
    },
    [`GET ${note}`]: anothers,
    [`PUT ${note} {own}`]: { ...own, body: text },
    [`PUT ${note} {another's}`]: { ...anothers, body: text },
    [`PUT ${note} {resolved}`]: { ...own, body: settled },
    [`DELETE ${note} {own}`]: own,
    [`DELETE ${note} {another's}`]: anothers,
  };
};

const request = '/projects/:id/merge_requests/:merge_request_iid';
const notes = `${request}/notes`;
const note = `${notes}/:note_id`;
const heart = () => ({ name: 'heart' });

/** The issue recipes of recipes.ts. */
const requestRecipes: Record<string, Recipe> = {
  [`GET ${notes}`]: { holds: ({ id }, names) => id === names['note_id'] },
  [`POST ${notes}`]: { makes: [freshRequest], body: text },
  [`PUT ${note} {own}`]: { makes: [freshRequest, ownNote], body: text },
  [`PUT ${note} {another's}`]: { makes: [freshRequest, anothersNote], body: text },
  [`PUT ${note} {the service's}`]: { makes: [freshRequest, servicesNote], body: text },
  [`DELETE ${note} {own}`]: { makes: [freshRequest, ownNote] },
  [`DELETE ${note} {another's}`]: { makes: [freshRequest, anothersNote] },
  [`DELETE ${note} {the service's}`]: { makes: [freshRequest, servicesNote] },
  [`GET ${request}/award_emoji`]: { holds: ({ id }, names) => id === names['issue_award'] },
  [`POST ${request}/award_emoji`]: { makes: [freshRequest], body: heart },
  [`DELETE ${request}/award_emoji/:award_id {own}`]: { makes: [freshRequest, ownAward] },
  [`DELETE ${request}/award_emoji/:award_id {another's}`]: { makes: [freshRequest, anothersAward] },
  [`GET ${note}/award_emoji`]: { holds: ({ id }, names) => id === names['note_award'] },
  [`POST ${note}/award_emoji`]: { makes: [freshRequest, anothersNote], body: heart },
  [`DELETE ${note}/award_emoji/:award_id {own}`]: {
    makes: [freshRequest, anothersNote, ownNoteAward],
  },
  [`DELETE ${note}/award_emoji/:award_id {another's}`]: {
    makes: [freshRequest, anothersNote, anothersNoteAward],
  },
  [`POST ${request}/approve`]: { makes: [freshRequest] },
  [`POST ${request}/unapprove`]: { makes: [freshRequest, ownApproval] },
};

const releases = '/projects/:id/releases';
const links = `${releases}/:tag_name/assets/links`;
const released: Recipe = { makes: [release] };
const linked: Recipe = { makes: [release, link] };

const listed: Recipe = {
  makes: [comingRelease],
  query: 'per_page=100',
  holds: (item, names) => (item as unknown as { tag_name: string }).tag_name === names['tag_name'],
};

const releaseRecipes: Record<string, Recipe> = {
  [`GET ${releases}`]: listed,
  'GET /groups/:id/releases': listed,
  [`GET ${releases}/permalink/latest`]: released,
  [`GET ${releases}/:tag_name`]: released,
  [`POST ${releases}`]: { body: () => ({ tag_name: unique('tag'), ref: 'main' }) },
  [`PUT ${releases}/:tag_name`]: { ...released, body: () => ({ name: 'Other' }) },
  [`DELETE ${releases}/:tag_name`]: released,
  [`GET ${links}`]: { ...linked, holds: ({ id }, names) => id === names['link_id'] },
  [`GET ${links}/:link_id`]: linked,
  [`POST ${links}`]: { ...released, body: () => ({ name: 'Other', url: 'https://example.com/other' }) },
  [`PUT ${links}/:link_id`]: { ...linked, body: () => ({ name: 'Other' }) },
  [`DELETE ${links}/:link_id`]: linked,
};

const urls = {
  project_url: 'https://tracker.example.com',
  issues_url: 'https://tracker.example.com/:id',
  new_issue_url: 'https://tracker.example.com/new',
};
const connected: Recipe = { makes: [freshProject, tracker] };

const trackerRecipes = (path: string): Record<string, Recipe> => ({
  [`GET ${path}/:slug`]: connected,
  [`PUT ${path}/:slug`]: { ...connected, body: () => urls },
  [`DELETE ${path}/:slug`]: connected,
});

export const threadedRecipes = {
  ...threadRecipes('/projects/:id/issues/:issue_iid', freshIssue),
  ...threadRecipes(request, freshRequest),
  ...requestRecipes,
  ...releaseRecipes,
  ...trackerRecipes('/projects/:id/integrations'),
  ...trackerRecipes('/projects/:id/services'),
};
