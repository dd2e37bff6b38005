"""Drives a Gantry with python-gitlab through issues, merge requests, jobs, settings, snippets and addresses.

Usage: drive.py URL TOKEN. Ends with code 1 and a traceback at the first difference.
"""

import sys
import time

import gitlab

url, token = sys.argv[1:]
gl = gitlab.Gitlab(url, private_token=token)
gl.auth()


def refused(status, action, *arguments, **options):
    """Runs an action that the server must answer with this status."""
    try:
        action(*arguments, **options)
    except gitlab.GitlabError as error:
        assert error.response_code == status, error
        return error
    raise AssertionError(f"{action} succeeded; expected {status}")


def create_project():
    project = gl.projects.create({"name": "Pump", "visibility": "public"})
    project.files.create(
        {"file_path": ".gitlab-ci.yml", "branch": "main", "content": CONFIGURATION, "commit_message": "First"}
    )
    return gl.projects.get(project.id)


CONFIGURATION = """\
build: { script: ["true"] }
deploy: { script: ["true"], when: manual }
"""


def check_issues(project):
    milestone = project.milestones.create({"title": "One", "due_date": "2031-01-02"})
    project.labels.create({"name": "leak", "color": "#ff0000"})
    issue = project.issues.create({"title": "It leaks", "labels": ["leak"], "milestone_id": milestone.id})
    assert (issue.iid, issue.state, issue.labels, issue.milestone["title"]) == (1, "opened", ["leak"], "One")
    other = project.issues.create({"title": "It hums", "confidential": True, "assignee_ids": [gl.user.id]})
    assert [one.iid for one in project.issues.list(iterator=True)] == [2, 1]
    assert [one.iid for one in project.issues.list(labels=["leak"], get_all=True)] == [1]
    assert [one.iid for one in project.issues.list(search="hums", get_all=True)] == [2]
    assert [one.iid for one in gl.issues.list(scope="assigned_to_me", get_all=True)] == [2]
    page = project.issues.list(per_page=1, iterator=True)
    assert (page.total, page.total_pages, page.current_page, page.next_page) == (2, 2, 1, 2)

    issue.state_event = "close"
    issue.save()
    assert project.issues.get(1).state == "closed"
    assert project.issues_statistics.get().statistics["counts"] == {"all": 2, "closed": 1, "opened": 1}
    issue.time_estimate("3h")
    assert issue.add_spent_time("30m")["total_time_spent"] == 1800
    assert project.issues.get(1).time_stats()["human_time_estimate"] == "3h"
    issue.reset_spent_time()
    issue.todo()
    assert gl.todos.list(get_all=True)[0].target["iid"] == 1
    gl.todos.mark_all_as_done()
    issue.unsubscribe()
    refused(304, issue.unsubscribe)
    note = issue.notes.create({"body": "A **new** seal"})
    note.body = "An old seal"
    note.save()
    note.awardemojis.create({"name": "thumbsup"})
    assert [one.body for one in issue.notes.list(get_all=True) if not one.system] == ["An old seal"]
    thread = issue.discussions.create({"body": "Which size?"})
    thread.notes.create({"body": "Three"})
    assert len(issue.discussions.get(thread.id).attributes["notes"]) == 2
    issue.links.create({"target_project_id": project.id, "target_issue_iid": other.iid})
    assert [one.iid for one in issue.links.list(get_all=True)] == [2]
    target = gl.projects.create({"name": "Other"})
    moved = project.issues.get(2)
    moved.move(target.id)
    assert [one.title for one in target.issues.list(get_all=True)] == ["It hums"]
    other = project.issues.create({"title": "To delete"})
    other.delete()
    refused(404, project.issues.get, other.iid)
    refused(400, project.issues.create, {"title": ""})


def check_merge_requests(project):
    project.branches.create({"branch": "seal", "ref": "main"})
    action = {"action": "create", "file_path": "seal.txt", "content": "rubber\n"}
    project.commits.create({"branch": "seal", "commit_message": "Add a seal", "actions": [action]})
    request = project.mergerequests.create(
        {"source_branch": "seal", "target_branch": "main", "title": "Seal it", "reviewer_ids": [gl.user.id]}
    )
    assert (request.iid, request.state, request.reviewers[0]["id"]) == (1, "opened", gl.user.id)
    assert [one.title for one in request.commits()] == ["Add a seal"]
    assert [one["new_path"] for one in request.changes()["changes"]] == ["seal.txt"]
    (version,) = request.diffs.list(get_all=True)
    position = {
        "position_type": "text",
        "base_sha": version.base_commit_sha,
        "start_sha": version.start_commit_sha,
        "head_sha": version.head_commit_sha,
        "new_path": "seal.txt",
        "old_path": "seal.txt",
        "new_line": 1,
    }
    thread = request.discussions.create({"body": "Silicone?", "position": position})
    assert thread.attributes["notes"][0]["position"]["new_line"] == 1
    thread.resolved = True
    thread.save()
    assert request.discussions.get(thread.id).attributes["notes"][0]["resolved"] is True
    draft = request.draft_notes.create({"note": "Fine"})
    draft.publish()
    request.approve()
    assert request.approvals.get().approved_by[0]["user"]["id"] == gl.user.id
    request.unapprove()
    request.labels = ["leak"]
    request.save()
    assert [one.iid for one in project.mergerequests.list(labels=["leak"], get_all=True)] == [1]
    assert [one.iid for one in gl.mergerequests.list(scope="all", get_all=True)] == [1]
    wait_until(lambda: project.mergerequests.get(1).merge_status == "can_be_merged")
    refused(409, request.merge, sha="0" * 40)
    merged = request.merge(should_remove_source_branch=True)
    assert merged["state"] == "merged"
    assert project.files.raw("seal.txt", "main") == b"rubber\n"


def check_jobs(project):
    (pipeline, *_) = project.pipelines.list(ref="main", get_all=True)
    jobs = {job.name: job for job in pipeline.jobs.list(get_all=True)}
    assert (jobs["build"].status, jobs["deploy"].status) == ("pending", "manual")
    job = project.jobs.get(jobs["build"].id)
    job.cancel()
    assert project.jobs.get(job.id).status == "canceled"
    retried = job.retry()
    assert (retried["name"], retried["status"]) == ("build", "pending")
    manual = project.jobs.get(jobs["deploy"].id)
    manual.play()
    assert project.jobs.get(manual.id).status == "pending"
    assert project.jobs.list(scope=["canceled"], get_all=True)[0].id == job.id
    refused(404, manual.trace)
    refused(404, manual.artifacts)
    refused(404, project.jobs.get, 99999999)


def check_settings():
    settings = gl.settings.get()
    before = settings.default_projects_limit
    settings.default_projects_limit = before + 1
    settings.save()
    assert gl.settings.get().default_projects_limit == before + 1
    settings.default_projects_limit = before
    settings.save()
    user = gl.users.create({"username": "ada", "name": "Ada", "email": "ada@example.com", "password": "Sealed-9-ways"})
    key = user.personal_access_tokens.create({"name": "t", "scopes": ["api"]}).token
    member = gitlab.Gitlab(url, private_token=key)
    refused(403, member.settings.get)


def check_snippets(project):
    files = [{"file_path": "seal.py", "content": "seal = 1"}, {"file_path": "notes.md", "content": "# Seal"}]
    for snippets in (gl.snippets, project.snippets):
        snippet = snippets.create({"title": "Seal", "files": files, "visibility": "private"})
        assert [file["path"] for file in snippet.files] == ["seal.py", "notes.md"]
        assert snippet.content() == b"seal = 1"
        snippet.files = [
            {"action": "move", "previous_path": "seal.py", "file_path": "gasket.py"},
            {"action": "create", "file_path": "more.txt", "content": "More"},
            {"action": "delete", "file_path": "notes.md"},
        ]
        snippet.title = "Gasket"
        snippet.save()
        read = snippets.get(snippet.id)
        assert (read.title, [file["path"] for file in read.files]) == ("Gasket", ["gasket.py", "more.txt"])
        raw = f"{snippets.path}/{snippet.id}/files/main/more.txt/raw"
        assert gl.http_get(raw, raw=True).content == b"More"
    note = snippet.notes.create({"body": "Tight"})
    note.body = "Tighter"
    note.save()
    note.awardemojis.create({"name": "tada"})
    assert [(one.body, one.noteable_type) for one in snippet.notes.list(get_all=True)] == [("Tighter", "Snippet")]
    thread = snippet.discussions.create({"body": "How tight?"})
    reply = thread.notes.create({"body": "Quite"})
    assert len(snippet.discussions.get(thread.id).attributes["notes"]) == 2
    reply.delete()
    snippet.awardemojis.create({"name": "thumbsup"})
    assert [award.name for award in snippet.awardemojis.list(get_all=True)] == ["thumbsup"]
    note.delete()
    snippet.delete()
    refused(404, project.snippets.get, snippet.id)


def check_addresses():
    email = gl.user.emails.create({"email": "further@example.com"})
    assert (email.email, email.confirmed_at) == ("further@example.com", None)
    assert [one.id for one in gl.user.emails.list(get_all=True)] == [email.id]
    refused(400, gl.user.emails.create, {"email": "further@example.com"})
    email.delete()
    refused(404, gl.user.emails.get, email.id)
    user = gl.users.create({"username": "eve", "name": "Eve", "email": "eve@example.com", "password": "Sealed-9-ways"})
    confirmed = user.emails.create({"email": "eve@example.org", "skip_confirmation": True})
    assert confirmed.confirmed_at is not None
    user.emails.delete(confirmed.id)
    assert user.emails.list(get_all=True) == []


def check_absent_features(project):
    for records in (project.packages, project.wikis, project.accessrequests):
        assert records.list(get_all=True) == []
    assert project.imports.get().import_status == "none"


def wait_until(is_done):
    for _ in range(200):
        if is_done():
            return
        time.sleep(0.05)
    raise AssertionError("not done in ten seconds")


pump = create_project()
check_issues(pump)
wait_until(lambda: len(pump.pipelines.list(get_all=True)) > 0)
check_jobs(pump)
check_merge_requests(pump)
check_settings()
check_snippets(pump)
check_addresses()
check_absent_features(pump)
