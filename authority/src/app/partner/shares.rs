//! Sharing orders with partners, and reading the orders that partners share (contract 4.14).

use authority_domain::event::change::{SharedOrderView, Sharing};
use authority_domain::list_filter::ShareFilter;
use authority_domain::order::no_members;
use authority_domain::partner::ShareRequest;
use authority_domain::partner::connection::{ConnectionStatus, PartnerConnection};
use authority_domain::partner::order_view::{PartnerOrder, SharedOrder};
use authority_domain::partner::share::{OrderShare, ShareStatus, ShareTerms};
use authority_domain::{
    Change, ConnectionId, ErrorCode, ListKind, MemberCode, Named, Order, OrderNumber, Refusal, Result,
    ShareId, Shipment, Tenant,
};
use authority_store::tx::SeenOrder;
use verify_core::catalog::EventType;

use crate::app::lists::{Item, written};
use crate::app::{Answer, App, Caller, List, ListRequest, Mutation, Owner, Work};

impl App {
    /// `POST /orders/:order/shares`.
    pub async fn share_create(
        &self,
        caller: &Caller,
        mutation: Mutation,
        number: Named<OrderNumber>,
    ) -> Result<Answer> {
        let request = ShareRequest::read(&mutation.body);
        self.for_caller(mutation, caller, None, async move |work, owner| {
            let order = work.tx.order_get(&owner.tenant, &number?).await?.ok_or_else(OrderNumber::missing)?;
            let ShareRequest { connection_id, terms } = request?;
            let connection = named(work, &owner.tenant, &connection_id).await?;
            Answer::record(201, &share(work, &owner, order, &connection, terms).await?)
        })
        .await
    }

    /// `POST /order-shares/:id/revoke`, by the owner.
    pub async fn share_revoke(
        &self,
        caller: &Caller,
        mutation: Mutation,
        id: Named<ShareId>,
    ) -> Result<Answer> {
        let empty = no_members(&mutation.body);
        self.for_caller(mutation, caller, None, async move |work, owner| {
            let found = work.tx.share_get(&owner.tenant, &id?).await?.ok_or_else(ShareId::missing)?;
            empty?;
            if found.status == ShareStatus::Revoked {
                return Answer::record(200, &found);
            }
            let order = work.order_of(&owner.tenant, &found.order_number).await?;
            let share = found.revoked(work.now);
            let sharing = Sharing { share: share.clone(), order, shown: SharedOrderView::Present };
            let change = Change::share(EventType::OrderShareRevoked, sharing);
            work.commit(&owner, &[change]).await?;
            Answer::record(200, &share)
        })
        .await
    }

    /// `GET /order-shares`: those that the merchant owns, newest first.
    pub async fn shares_list(
        &self,
        caller: &Caller,
        request: &ListRequest,
        filter: ShareFilter,
    ) -> Result<List> {
        self.list(ListKind::OrderShares, &caller.tenant, request, written, async move |tx, of| {
            Ok(tx.shares_page(&of.tenant, &filter, of.before, of.rows).await?)
        })
        .await
    }

    /// `GET /partner-orders/:share`.
    pub async fn partner_order_get(&self, caller: &Caller, id: Named<ShareId>) -> Result<Answer> {
        let missing = || Refusal::not_found("partner order");
        let (tenant, id) = (caller.tenant.clone(), id.map_err(|_| missing())?);
        let found = self.read(async move |tx| tx.partner_order(&tenant, &id).await).await?;
        Ok(Answer::new(200, shown(&found.ok_or_else(missing)?)?))
    }

    /// `GET /partner-orders`: the orders shared with the merchant, newest first.
    pub async fn partner_orders_list(
        &self,
        caller: &Caller,
        request: &ListRequest,
        filter: ShareFilter,
    ) -> Result<List> {
        let show = |seen: SeenOrder| Ok(Item::made_of(seen.bytes, shown(&seen)?));
        self.list(ListKind::PartnerOrders, &caller.tenant, request, show, async move |tx, of| {
            Ok(tx.partner_orders_page(&of.tenant, &filter, of.before, of.rows).await?)
        })
        .await
    }
}

/// The connection named in a body.
async fn named(work: &mut Work<'_>, tenant: &Tenant, text: &str) -> Result<PartnerConnection> {
    let found = match ConnectionId::parse(text) {
        Some(id) => work.tx.connection_get(tenant, &id).await?,
        None => None,
    };
    found.ok_or_else(|| {
        let detail = "There is no such partner connection.";
        Refusal::member("/connection_id", MemberCode::UnknownReference, detail)
    })
}

/// Shares an order on a connection.
pub(in crate::app) async fn share(
    work: &mut Work<'_>,
    owner: &Owner,
    order: Order,
    connection: &PartnerConnection,
    terms: ShareTerms,
) -> Result<OrderShare> {
    let Owner { tenant, merchant } = owner;
    let status = connection.status(work.now);
    let partner = connection.other_side(&tenant.merchant_id).filter(|_| status == ConnectionStatus::Active);
    let Some(partner) = partner else {
        let detail = format!("The partner connection is {status}.");
        return Err(
            Refusal::new(ErrorCode::ConnectionNotActive, detail).with("current_status", status.as_str())
        );
    };
    let shared = work.tx.share_on_connection(tenant, &order.order_number, &connection.id).await?;
    if let Some(id) = shared {
        let detail = "The order is already shared on this connection.";
        return Err(Refusal::new(ErrorCode::ShareExists, detail).with("share_id", id.as_str()));
    }
    let share = OrderShare::new(
        ShareId::generate(work.now, &mut work.dice),
        connection.id.clone(),
        order.order_number.clone(),
        (merchant.context(), partner.merchant.clone()),
        terms,
        tenant.livemode,
        work.now,
    );
    let sharing = Sharing { share: share.clone(), order, shown: SharedOrderView::Present };
    work.commit(owner, &[Change::share(EventType::OrderShared, sharing)]).await?;
    Ok(share)
}

/// The order as the partner reads it.
fn shown(seen: &SeenOrder) -> Result<String> {
    let unreadable = |_| Refusal::internal();
    let order: Order = serde_json::from_str(&seen.order).map_err(unreadable)?;
    let parcels: Vec<Shipment> = seen
        .shipments
        .iter()
        .map(|body| serde_json::from_str(body))
        .collect::<Result<_, _>>()
        .map_err(unreadable)?;
    let order = SharedOrder::of(&order, &parcels, &seen.share);
    serde_json::to_string(&PartnerOrder { share: seen.share.clone(), order }).map_err(unreadable)
}
