package herald

import (
	"context"
	"iter"
	"net/http"
)

// Propose proposes a send, which another key has to approve within a day. It is checked now. The same call again changes nothing;
// another one with the same id fails with message_id_conflict.
func (c *Client) Propose(ctx context.Context, org, id string, order PutProposalRequest) (*Proposal, error) {
	return put[Proposal](ctx, c, order, proposal(org, id)...)
}

// GetProposal reads a proposal, or what became of it.
func (c *Client) GetProposal(ctx context.Context, org, id string) (*Proposal, error) {
	return get[Proposal](ctx, c, nil, proposal(org, id)...)
}

// ApproveProposal approves a proposal, which sends it, once whoever else approves it. Look at its State: it has failed if it could no
// longer be sent. The call fails with own_proposal for a key that proposed it, and with already_sent if it was rejected or has expired.
func (c *Client) ApproveProposal(ctx context.Context, org, id string, decision DecideProposalRequest) (*Proposal, error) {
	return decide(ctx, c, decision, proposal(org, id, "approve"))
}

// RejectProposal rejects a proposal: it is never sent. It fails with already_sent if it was.
func (c *Client) RejectProposal(ctx context.Context, org, id string, decision DecideProposalRequest) (*Proposal, error) {
	return decide(ctx, c, decision, proposal(org, id, "reject"))
}

// ListProposals reads a page of proposals, the oldest first: those of one state or, if it is empty, all.
func (c *Client) ListProposals(ctx context.Context, org string, state ProposalState, page PageOptions) (*Page[Proposal], error) {
	return listPage[Proposal](ctx, c, proposalsOf(org, state), page)
}

// Proposals yields proposals, the oldest first: those of one state or, if it is empty, all.
func (c *Client) Proposals(ctx context.Context, org string, state ProposalState) iter.Seq2[Proposal, error] {
	return each[Proposal](ctx, c, proposalsOf(org, state))
}

func decide(ctx context.Context, c *Client, decision DecideProposalRequest, path []string) (*Proposal, error) {
	return answer[Proposal](ctx, c, call{method: http.MethodPost, path: path, body: decision, isSafe: true})
}

func proposal(org, id string, rest ...string) []string {
	return append(organization(org, "proposals", id), rest...)
}

func proposalsOf(org string, state ProposalState) list {
	return list{path: organization(org, "proposals"), query: query{param("state", string(state))}}
}
