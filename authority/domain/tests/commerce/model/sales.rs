//! Checkouts, payments, orders from elsewhere: what the platform tells.

use authority_domain::checkout::{CheckoutRequest, CheckoutStatus};
use authority_domain::order::OrderRequest;
use authority_domain::parts::Money;
use authority_domain::payment::{PaymentOutcome, PaymentReport, PaymentRequest};
use authority_domain::transitions::founding::Founding;
use authority_domain::transitions::payment::{PaidFor, Surroundings};
use authority_domain::{Change, Checkout, Payment, PaymentStatus, Result, SubscriptionId, transitions};
use serde_json::{Value, json};
use verify_core::catalog::EventType;

use super::commands::{Goods, Target, World, at};

impl World {
    pub(super) fn open(&mut self, goods: &Goods, subscribes: Option<bool>) -> Result<Vec<Change>> {
        let mut body =
            json!({"currency": "USD", "line_items": lines(goods), "customer": {"reference": "c-1"}});
        if let Some(trial) = subscribes {
            body["mode"] = json!("subscription");
            body["subscription"] = json!({"interval": "month"});
            if trial {
                body["subscription"]["trial_days"] = json!(7);
            }
        }
        let new = CheckoutRequest::read(&body)?.into_new(self.now, &mut self.dice)?;
        let terms = new.subscription.clone();
        let checkout = Checkout::open(new, false, self.now);
        if let Some(terms) = terms {
            self.ledger.terms.insert(checkout.id.clone(), terms);
        }
        Ok(vec![Change::checkout(EventType::CheckoutCreated, &checkout)])
    }

    pub(super) fn founding(&mut self, checkout: &Checkout) -> Option<Founding> {
        let terms = self.ledger.terms.get(&checkout.id)?.clone();
        Some(Founding { id: SubscriptionId::generate(self.now, &mut self.dice), terms })
    }

    pub(super) fn complete(&mut self, place: usize) -> Result<Vec<Change>> {
        let Some(checkout) = at(&self.ledger.checkouts, place) else { return Ok(Vec::new()) };
        if !transitions::checkout::needs_completion(&checkout) {
            return Ok(Vec::new());
        }
        let (number, founding) = (self.next_number(), self.founding(&checkout));
        transitions::checkout::complete(checkout, number, founding, self.confirm_on, self.now)
    }

    pub(super) fn payment_body(&mut self, amount: Money, other_currency: bool) -> Value {
        self.events += 1;
        json!({
            "amount": amount, "currency": if other_currency { "EUR" } else { "USD" }, "method": {"type": "card"},
            "processor": {"name": "acme-pay"}, "processor_event_id": format!("evt-{}", self.events),
        })
    }

    pub(super) fn start(
        &mut self,
        target: Target,
        place: usize,
        off_by: Money,
        other_currency: bool,
    ) -> Result<Vec<Change>> {
        let (member, id, total, order) = match target {
            Target::Checkout => {
                let Some(checkout) = at(&self.ledger.checkouts, place) else { return Ok(Vec::new()) };
                ("checkout_id", checkout.id.to_string(), checkout.amounts.total, None)
            }
            Target::Order => {
                let Some(order) = at(&self.ledger.orders, place) else { return Ok(Vec::new()) };
                ("order_number", order.order_number.to_string(), order.payment_summary.due, Some(order))
            }
            Target::Subscription => {
                let subscriptions = &self.ledger.subscriptions;
                let Some(record) = at(subscriptions, place).map(|ongoing| ongoing.record) else {
                    return Ok(Vec::new());
                };
                let Some(number) = record.latest_order_number else { return Ok(Vec::new()) };
                let order = self.ledger.order(&number).cloned().unwrap();
                ("subscription_id", record.id.to_string(), order.payment_summary.due, Some(order))
            }
        };
        let mut body = self.payment_body(total + off_by, other_currency);
        body[member] = json!(id);
        let new = PaymentRequest::read(&body)?.into_new(self.now, &mut self.dice);
        match order {
            Some(order) => {
                let payments = self.ledger.payments_of(&order.order_number);
                transitions::further_payments::start(order, payments, new, self.confirm_on, self.now)
            }
            None => {
                let checkout = at(&self.ledger.checkouts, place).unwrap();
                let open = self.ledger.open_attempt(&checkout.id).is_some();
                Ok(vec![transitions::payment::start(&checkout, open, new, self.now)?])
            }
        }
    }

    pub(super) fn report(&mut self, place: usize, told: &PaymentReport) -> Result<Vec<Change>> {
        let Some(before) = at(&self.ledger.payments, place) else { return Ok(Vec::new()) };
        let reported = if before.may_be_late(told) && self.was_given_up(&before) {
            before.clone().report_late(told, self.now)?
        } else {
            before.clone().report(told, self.now)?
        };
        let PaymentOutcome::Changed(next) = reported else { return Ok(Vec::new()) };
        let surroundings = match (&before.order_number, &before.checkout_id) {
            (Some(number), _) => Surroundings::Order {
                order: Box::new(self.ledger.order(number).cloned().unwrap()),
                payments: self.ledger.payments_of(number),
            },
            (None, Some(id)) => {
                let checkout = self.ledger.checkouts.iter().find(|c| c.id == *id).cloned().unwrap();
                self.on_checkout(checkout, next.status)
            }
            (None, None) => panic!("a payment pays something"),
        };
        Ok(transitions::payment::settle(&before, next, surroundings, self.confirm_on, self.now))
    }

    fn was_given_up(&self, payment: &Payment) -> bool {
        match (&payment.order_number, &payment.checkout_id) {
            (Some(number), _) => {
                let order = self.ledger.order(number).unwrap();
                transitions::payment::was_given_up(payment, PaidFor::Order(order))
            }
            (None, Some(id)) => {
                let checkout = self.ledger.checkouts.iter().find(|c| c.id == *id).unwrap();
                transitions::payment::was_given_up(payment, PaidFor::Checkout(checkout))
            }
            (None, None) => false,
        }
    }

    pub(super) fn on_checkout(&mut self, checkout: Checkout, reached: PaymentStatus) -> Surroundings {
        if checkout.status != CheckoutStatus::Open {
            Surroundings::Ended
        } else if checkout.is_overdue(self.now) {
            Surroundings::Overdue(Box::new(checkout))
        } else if transitions::payment::completes(reached) {
            let subscription = self.founding(&checkout).map(Box::new);
            Surroundings::Completing {
                checkout: Box::new(checkout),
                order_number: self.next_number(),
                subscription,
            }
        } else {
            Surroundings::OpenCheckout(Box::new(checkout))
        }
    }

    pub(super) fn ingest(
        &mut self,
        goods: &Goods,
        payments: &[(Money, PaymentStatus)],
    ) -> Result<Vec<Change>> {
        let mut body = json!({"currency": "USD", "line_items": lines(goods), "payments": []});
        for (amount, status) in payments {
            let mut payment = self.payment_body(*amount, false);
            payment["status"] = json!(status);
            body["payments"].as_array_mut().unwrap().push(payment);
        }
        let number = self.next_number();
        let request = OrderRequest::read(&body, self.now)?;
        let (new, payments) = request.into_new(number, self.now, &mut self.dice)?;
        transitions::order::ingest(new, payments, self.confirm_on, false, self.now)
    }
}

fn lines(goods: &Goods) -> Value {
    let line = |(quantity, price, ships): &(i64, Money, bool)| json!({"name": "x", "quantity": quantity, "unit_amount": price, "requires_shipping": ships});
    goods.iter().map(line).collect()
}
