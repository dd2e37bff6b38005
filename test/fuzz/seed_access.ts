/** Records about who may come in, and from where: tokens, invitations, shares, hooks, badges; and fixed names. */
import type { TestService } from '../support/service.ts';
import type { Make } from './path_params.ts';

type Kind = '/projects/:id' | '/groups/:id';

/** Seeds the records that both projects and groups have. */
export const seedAccess = async (make: Make, at: Kind, id: number): Promise<void> => {
  for (const name of ['bug', 'ui', 'x']) {
    const token = { name, scopes: ['api'], access_level: 30, expires_at: '2090-12-31' };
    await make(`${at}/access_tokens`, { id }, token, { token_id: 'id' });
    const deployToken = { name, scopes: ['read_repository'] };
    await make(`${at}/deploy_tokens`, { id }, deployToken, { token_id: 'id' });
    const url = `https://x.example.com/${name}`;
    await make(`${at}/badges`, { id }, { name, link_url: url, image_url: url }, { badge_id: 'id' });
    // Delivers nothing by itself: only tests of it do.
    await make(`${at}/hooks`, { id }, { url, push_events: false }, { hook_id: 'id' });
    const email = `${name}@invited.example.com`;
    await make(`${at}/invitations`, { id }, { email, access_level: 30 }, {});
    make.place(`${at}/invitations/:email`, { id, email });
  }
};

/** Shares each project and group with another group. */
export const seedShares = async (make: Make, at: Kind, id: number, group_id: number): Promise<void> => {
  await make(`${at}/share`, { id }, { group_id, group_access: 20 }, {});
  make.place(`${at}/share`, { id, group_id });
  make.place(`${at}/share/:group_id`, { id, group_id });
};

/** What the instance has, and names that are the same on each. */
export const seedInstance = async (make: Make, user: number): Promise<void> => {
  for (const name of ['bug', 'ui']) {
    await make('/hooks', {}, { url: `https://x.example.com/${name}`, push_events: false }, { hook_id: 'id' });
    await make('/topics', {}, { name, title: name }, { id: 'id' });
    const email = { email: `${name}-${user}@x.example.com`, skip_confirmation: true };
    await make('/users/:id/emails', { id: user }, email, { email_id: 'id' });
  }
  for (const [kind, key] of [
    ['licenses', 'mit'],
    ['gitignores', 'Node'],
    ['gitlab_ci_ymls', 'Bash'],
    ['dockerfiles', 'Node'],
  ]) {
    make.place(`/templates/${kind}/:key`, { key });
    make.place(`/projects/:id/templates/${kind}/:name`, { id: 1, name: key });
  }
};

/** Links of issues, and what the log says of labels, milestones and states. */
export const seedIssueEvents = async (gantry: TestService, make: Make, id: number): Promise<void> => {
  const { body: milestones } = await gantry.api(`GET /projects/${id}/milestones`);
  const paths = [
    ['issues', 'issue_iid'],
    ['merge_requests', 'merge_request_iid'],
  ] as const;
  for (const [kind, iid] of paths) {
    const own = `/projects/${id}/${kind}/2`;
    for (const json of [
      { add_labels: 'bug' },
      { milestone_id: milestones[0].id },
      { state_event: 'close' },
      { state_event: 'reopen' },
    ]) {
      await gantry.api(`PUT ${own}`, { json });
    }
    for (const what of ['label', 'milestone', 'state']) {
      const { body } = await gantry.api(`GET ${own}/resource_${what}_events`);
      for (const event of body) {
        make.place(`/projects/:id/${kind}/:${iid}/resource_${what}_events/:resource_event_id`, {
          id,
          [iid]: 2,
          resource_event_id: event.id,
        });
      }
    }
  }
  const at = '/projects/:id/issues/:issue_iid/links';
  for (const target_issue_iid of [3, 4]) {
    const linked = { target_project_id: id, target_issue_iid };
    await make(at, { id, issue_iid: 1 }, linked, {});
  }
  const { body: links } = await gantry.api(`GET /projects/${id}/issues/1/links`);
  for (const { issue_link_id } of links)
    make.place(`${at}/:issue_link_id`, { id, issue_iid: 1, issue_link_id });
  make.place(at, { id, issue_iid: 2, target_project_id: id, target_issue_iid: 5 });
};
