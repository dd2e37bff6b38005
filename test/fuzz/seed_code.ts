/** What a project has about its code: tags, releases, protected names, labels, milestones, comments on commits. */
import { freshKey } from '../support/repositories/ssh_keys.ts';
import type { Make } from './path_params.ts';
import { seedNotes } from './seed_discussions.ts';

const words = ['bug', 'ui', 'x'];

const seedTags = async (make: Make, id: number): Promise<void> => {
  const at = '/projects/:id';
  for (const tag_name of ['v1', 'v2', 'v3', 'v4']) {
    await make(
      `${at}/repository/tags`,
      { id },
      { tag_name, ref: 'main', message: 'bug' },
      { tag_name: 'name' },
    );
    if (tag_name === 'v4') continue;
    const release = { tag_name, name: tag_name, description: 'bug' };
    await make(`${at}/releases`, { id }, release, { tag_name: 'tag_name' });
    const link = { name: 'bug', url: `https://x.example.com/${tag_name}` };
    await make(`${at}/releases/:tag_name/assets/links`, { id, tag_name }, link, { link_id: 'id' });
  }
  make.place(`${at}/repository/tags/:tag_name/release`, { id, tag_name: 'v4' });
  make.place(`${at}/releases`, { id, ref: 'main' });
};

const seedCommits = async (make: Make, id: number, sha: string): Promise<void> => {
  const at = '/projects/:id/repository';
  make.place(`${at}/commits/:sha`, { id, sha });
  make.place('/projects/:id/statuses/:sha', { id, sha });
  for (let n = 0; n < 3; n += 1) {
    const path = `${at}/commits/:sha/discussions`;
    const { id: discussion_id, notes } = await make(
      path,
      { id, sha },
      { body: 'bug' },
      { discussion_id: 'id' },
    );
    make.place(`${path}/:discussion_id/notes/:note_id`, { id, sha, discussion_id, note_id: notes[0].id });
  }
};

/** A board with a list of a label. @param at `/projects/:id` or `/groups/:id` */
export const seedBoard = async (make: Make, at: string, id: number, label_id: number): Promise<void> => {
  const { id: board_id } = await make(`${at}/boards`, { id }, { name: 'Board' }, { board_id: 'id' });
  await make(`${at}/boards/:board_id/lists`, { id, board_id }, { label_id }, { list_id: 'id' });
};

export const seedCodeRecords = async (make: Make, id: number, sha: string): Promise<void> => {
  const at = '/projects/:id';
  await seedTags(make, id);
  await seedCommits(make, id, sha);
  for (const name of words) {
    const json = { name, color: '#00ff00', priority: 1 };
    const label = await make(`${at}/labels`, { id }, json, { label_id: 'name' });
    await seedBoard(make, at, id, label.id);
    await make(`${at}/milestones`, { id }, { title: name, due_date: '2026-05-05' }, { milestone_id: 'id' });
    const snippet = { title: name, file_name: 'x.rb', content: 'puts 1', visibility: 'public' };
    const { id: snippet_id } = await make(`${at}/snippets`, { id }, snippet, { snippet_id: 'id' });
    await seedNotes(make, `${at}/snippets/:snippet_id`, { id, snippet_id });
    const file = { id, snippet_id, ref: 'main', file_path: 'x.rb' };
    make.place(`${at}/snippets/:snippet_id/files/:ref/:file_path/raw`, file);
    await make(`${at}/deploy_keys`, { id }, { title: name, key: freshKey() }, { key_id: 'id' });
    await make(`${at}/protected_branches`, { id }, { name: `${name}-*` }, { name: 'name' });
    await make(`${at}/protected_tags`, { id }, { name: `${name}-*` }, { name: 'name' });
  }
  for (const branch of ['x', 'v1.0', 'bug', 'ui'])
    make.place(`${at}/repository/branches/:branch`, { id, branch });
  for (const file_path of ['README.md', 'child.yml']) {
    make.place(`${at}/repository/files/:file_path`, { id, file_path, ref: 'main', branch: 'main' });
  }
  const tracker = { project_url: 'https://x.example.com/p', issues_url: 'https://x.example.com/:id' };
  const attributes = { ...tracker, new_issue_url: 'https://x.example.com/new' };
  for (const [way, slug] of [
    ['integrations', 'redmine'],
    ['services', 'youtrack'],
  ]) {
    make.place(`${at}/${way}/:slug`, { id, slug, ...attributes });
  }
};
