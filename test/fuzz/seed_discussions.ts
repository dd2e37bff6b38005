/** What is said about issues, merge requests and snippets: comments, threads, drafts, awards. */
import type { TestService } from '../support/service.ts';
import type { Make, Place } from './path_params.ts';

/** Makes comments, threads and awards on one record. */
export const seedNotes = async (make: Make, at: string, params: Place['params']): Promise<void> => {
  make.place(at, params);
  for (const name of ['thumbsup', 'heart'])
    await make(`${at}/award_emoji`, params, { name }, { award_id: 'id' });
  for (const body of ['bug', 'see #1 and !1', '@member']) {
    const { id: note_id } = await make(`${at}/notes`, params, { body }, { note_id: 'id' });
    const award = { name: 'thumbsdown' };
    await make(`${at}/notes/:note_id/award_emoji`, { ...params, note_id }, award, { award_id: 'id' });
    const thread = await make(`${at}/discussions`, params, { body }, { discussion_id: 'id' });
    const its = { ...params, discussion_id: thread.id, note_id: thread.notes[0].id };
    make.place(`${at}/discussions/:discussion_id/notes/:note_id`, its);
  }
};

export const seedDiscussions = async (gantry: TestService, make: Make, id: number): Promise<void> => {
  for (const issue_iid of [1, 2, 3])
    await seedNotes(make, '/projects/:id/issues/:issue_iid', { id, issue_iid });
  for (const merge_request_iid of [1, 2, 3, 4]) {
    const at = '/projects/:id/merge_requests/:merge_request_iid';
    const params = { id, merge_request_iid };
    await seedNotes(make, at, params);
    for (const note of ['bug', 'ui', '/label ~bug']) {
      await make(`${at}/draft_notes`, params, { note }, { draft_note_id: 'id' });
    }
    const { body: versions } = await gantry.api(
      `GET /projects/${id}/merge_requests/${merge_request_iid}/versions`,
    );
    for (const version of versions)
      make.place(`${at}/versions/:version_id`, { ...params, version_id: version.id });
  }
};
