// Reads answers of the API from standard input and decodes each into a type of the client library. Prints one line for
// each: its name, and "decoded" or what failed.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"

	gitlab "gitlab.com/gitlab-org/api/client-go"
)

type answer struct {
	Name string          `json:"name"`
	Type string          `json:"type"`
	Body json.RawMessage `json:"body"`
}

var types = map[string]any{
	"AccessRequest": gitlab.AccessRequest{}, "Application": gitlab.Application{},
	"ApplicationStatistics": gitlab.ApplicationStatistics{}, "AuditEvent": gitlab.AuditEvent{},
	"Avatar": gitlab.Avatar{}, "AwardEmoji": gitlab.AwardEmoji{}, "BasicMergeRequest": gitlab.BasicMergeRequest{},
	"BasicUser": gitlab.BasicUser{}, "Blob": gitlab.Blob{}, "BoardList": gitlab.BoardList{}, "Branch": gitlab.Branch{},
	"Bridge": gitlab.Bridge{}, "BroadcastMessage": gitlab.BroadcastMessage{}, "ChangelogData": gitlab.ChangelogData{},
	"Commit": gitlab.Commit{}, "CommitComment": gitlab.CommitComment{}, "CommitRef": gitlab.CommitRef{},
	"CommitStatus": gitlab.CommitStatus{}, "Compare": gitlab.Compare{}, "ContributionEvent": gitlab.ContributionEvent{},
	"Contributor": gitlab.Contributor{}, "DeployToken": gitlab.DeployToken{}, "Deployment": gitlab.Deployment{},
	"Diff": gitlab.Diff{}, "Discussion": gitlab.Discussion{}, "DraftNote": gitlab.DraftNote{}, "Email": gitlab.Email{},
	"Environment": gitlab.Environment{}, "File": gitlab.File{}, "FileBlameRange": gitlab.FileBlameRange{},
	"GPGKey": gitlab.GPGKey{}, "Group": gitlab.Group{}, "GroupAccessToken": gitlab.GroupAccessToken{},
	"GroupBadge": gitlab.GroupBadge{}, "GroupHook": gitlab.GroupHook{}, "GroupIssueBoard": gitlab.GroupIssueBoard{},
	"GroupLabel": gitlab.GroupLabel{}, "GroupMember": gitlab.GroupMember{}, "GroupMilestone": gitlab.GroupMilestone{},
	"GroupVariable": gitlab.GroupVariable{}, "Hook": gitlab.Hook{}, "ImportStatus": gitlab.ImportStatus{},
	"InstanceDeployKey": gitlab.InstanceDeployKey{}, "InstanceVariable": gitlab.InstanceVariable{},
	"Integration": gitlab.Integration{}, "Issue": gitlab.Issue{}, "IssueBoard": gitlab.IssueBoard{},
	"IssueLink": gitlab.IssueLink{}, "IssueRelation": gitlab.IssueRelation{}, "IssuesStatistics": gitlab.IssuesStatistics{},
	"Job": gitlab.Job{}, "JobTokenAccessSettings": gitlab.JobTokenAccessSettings{}, "Label": gitlab.Label{},
	"LabelEvent": gitlab.LabelEvent{}, "LicenseTemplate": gitlab.LicenseTemplate{}, "Markdown": gitlab.Markdown{},
	"MergeRequest": gitlab.MergeRequest{}, "MergeRequestApprovalState": gitlab.MergeRequestApprovalState{},
	"MergeRequestApprovals": gitlab.MergeRequestApprovals{}, "MergeRequestDiff": gitlab.MergeRequestDiff{},
	"MergeRequestDiffVersion": gitlab.MergeRequestDiffVersion{}, "MergeRequestReviewer": gitlab.MergeRequestReviewer{},
	"Metadata": gitlab.Metadata{}, "Milestone": gitlab.Milestone{}, "MilestoneEvent": gitlab.MilestoneEvent{},
	"Namespace": gitlab.Namespace{}, "NamespaceExistance": gitlab.NamespaceExistance{}, "Note": gitlab.Note{},
	"NotificationSettings": gitlab.NotificationSettings{}, "PendingInvite": gitlab.PendingInvite{},
	"PersonalAccessToken": gitlab.PersonalAccessToken{}, "Pipeline": gitlab.Pipeline{}, "PipelineInfo": gitlab.PipelineInfo{},
	"PipelineSchedule": gitlab.PipelineSchedule{}, "PipelineTestReport": gitlab.PipelineTestReport{},
	"PipelineTestReportSummary": gitlab.PipelineTestReportSummary{}, "PipelineTrigger": gitlab.PipelineTrigger{},
	"PipelineVariable": gitlab.PipelineVariable{}, "Project": gitlab.Project{},
	"ProjectAccessToken": gitlab.ProjectAccessToken{}, "ProjectBadge": gitlab.ProjectBadge{},
	"ProjectDeployKey": gitlab.ProjectDeployKey{}, "ProjectGroup": gitlab.ProjectGroup{}, "ProjectHook": gitlab.ProjectHook{},
	"ProjectLanguages": gitlab.ProjectLanguages{}, "ProjectLintResult": gitlab.ProjectLintResult{},
	"ProjectMember": gitlab.ProjectMember{}, "ProjectStarrer": gitlab.ProjectStarrer{},
	"ProjectTemplate": gitlab.ProjectTemplate{}, "ProjectUser": gitlab.ProjectUser{},
	"ProjectVariable": gitlab.ProjectVariable{}, "ProtectedBranch": gitlab.ProtectedBranch{},
	"ProtectedTag": gitlab.ProtectedTag{}, "Release": gitlab.Release{}, "ReleaseLink": gitlab.ReleaseLink{},
	"ResourceGroup": gitlab.ResourceGroup{}, "Runner": gitlab.Runner{}, "RunnerDetails": gitlab.RunnerDetails{},
	"SSHKey": gitlab.SSHKey{}, "Settings": gitlab.Settings{}, "Snippet": gitlab.Snippet{}, "StateEvent": gitlab.StateEvent{},
	"Tag": gitlab.Tag{}, "TimeStats": gitlab.TimeStats{}, "Todo": gitlab.Todo{}, "Topic": gitlab.Topic{},
	"TreeNode": gitlab.TreeNode{}, "User": gitlab.User{}, "UserActivity": gitlab.UserActivity{},
	"UserMembership": gitlab.UserMembership{}, "UserStatus": gitlab.UserStatus{}, "Version": gitlab.Version{},
}

func decode(one answer) error {
	name, isList := strings.CutPrefix(one.Type, "[]")
	sample, known := types[name]
	if !known {
		return fmt.Errorf("no type %s", name)
	}
	kind := reflect.TypeOf(sample)
	if isList {
		kind = reflect.SliceOf(reflect.PointerTo(kind))
	}
	return json.Unmarshal(one.Body, reflect.New(kind).Interface())
}

func main() {
	var all []answer
	if err := json.NewDecoder(os.Stdin).Decode(&all); err != nil {
		panic(err)
	}
	for _, one := range all {
		if err := decode(one); err != nil {
			fmt.Printf("%s\tfailed: %v\n", one.Name, err)
			continue
		}
		fmt.Printf("%s\tdecoded\n", one.Name)
	}
}
