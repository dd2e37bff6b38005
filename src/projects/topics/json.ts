import type { Site } from '../../core/access/site.ts';
import { uploadedAvatarUrl } from '../../identity/avatars/avatar_urls.ts';
import { int, nullable, object, string } from '../../platform/http/schema.ts';
import type { TopicRow } from './queries.ts';

export const topicShape = object({
  id: int,
  name: string,
  title: string,
  description: nullable(string),
  total_projects_count: int,
  avatar_url: nullable(string),
});

export const topicJson = (topic: TopicRow, site: Site) => ({
  id: topic.id,
  name: topic.name,
  title: topic.title,
  description: topic.description,
  total_projects_count: topic.total_projects_count,
  avatar_url: uploadedAvatarUrl(site, 'projects/topic', topic),
});
